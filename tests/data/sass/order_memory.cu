// One memory (or other) instruction per loop trip: after which of them do waiting splits join?
typedef unsigned u32;
__constant__ int cc[32];
#define K extern "C" __global__ void

K mx_ldg(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("ld.global.u32 %0,[%1];":"=r"(x):"l"(z+(j&31)));s+=x; j++;}while(j<lim);o[t]=s+x;}
K mx_ldn(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("ld.global.nc.u32 %0,[%1];":"=r"(x):"l"(z+(j&31)));s+=x; j++;}while(j<lim);o[t]=s+x;}
K mx_stg(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("st.global.u32 [%0],%1;"::"l"(z+t),"r"(s):"memory");s=s*3+j; j++;}while(j<lim);o[t]=s+x;}
K mx_lds(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;__shared__ int sh[64];u32 q=(u32)__cvta_generic_to_shared(sh);sh[t]=t;
#pragma unroll 1
do{asm volatile("ld.shared.u32 %0,[%1];":"=r"(x):"r"(q+(j&31)*4));s+=x; j++;}while(j<lim);o[t]=s+x;}
K mx_sts(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;__shared__ int sh[64];u32 q=(u32)__cvta_generic_to_shared(sh);sh[t]=t;
#pragma unroll 1
do{asm volatile("st.shared.u32 [%0],%1;"::"r"(q+t*4),"r"(s):"memory");s=s*3+j; j++;}while(j<lim);o[t]=s+x;}
K mx_red(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("red.global.add.u32 [%0],%1;"::"l"(z+t),"r"(s):"memory");s=s*3+j; j++;}while(j<lim);o[t]=s+x;}
K mx_atg(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("atom.global.add.u32 %0,[%1],%2;":"=r"(x):"l"(z+t),"r"(s):"memory");s=s*3+x; j++;}while(j<lim);o[t]=s+x;}
K mx_ats(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;__shared__ int sh[64];u32 q=(u32)__cvta_generic_to_shared(sh);sh[t]=t;
#pragma unroll 1
do{asm volatile("atom.shared.add.u32 %0,[%1],%2;":"=r"(x):"r"(q+t*4),"r"(s):"memory");s=s*3+x; j++;}while(j<lim);o[t]=s+x;}
K mx_ldl(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;int la[8];for(int i=0;i<8;i++)la[i]=t*i;unsigned long long lp;asm volatile("cvta.to.local.u64 %0,%1;":"=l"(lp):"l"((unsigned long long)la):"memory");
#pragma unroll 1
do{asm volatile("ld.local.u32 %0,[%1];":"=r"(x):"l"(lp+(j&7)*4));s+=x; j++;}while(j<lim);s+=la[t&7];o[t]=s+x;}
K mx_stl(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;int la[8];for(int i=0;i<8;i++)la[i]=t*i;unsigned long long lp;asm volatile("cvta.to.local.u64 %0,%1;":"=l"(lp):"l"((unsigned long long)la):"memory");
#pragma unroll 1
do{asm volatile("st.local.u32 [%0],%1;"::"l"(lp+(j&7)*4),"r"(s):"memory");s=s*3+j; j++;}while(j<lim);s+=la[t&7];o[t]=s+x;}
K mx_ldc(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{s+=cc[(j*t)&31]; j++;}while(j<lim);o[t]=s+x;}
K mx_gen(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("ld.u32 %0,[%1];":"=r"(x):"l"(z+(j&31)));s+=x; j++;}while(j<lim);o[t]=s+x;}
K mx_vot(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("{.reg .pred p;setp.ne.u32 p,%1,0;activemask.b32 %0;}":"=r"(x):"r"(s));s=s*3+x; j++;}while(j<lim);o[t]=s+x;}
K mx_mat(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("cvt.rn.f32.s32 %0,%1;":"=r"(x):"r"(s));s=s*3+x; j++;}while(j<lim);o[t]=s+x;}
K mx_mem(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("membar.cta;":::"memory");s=s*3+j; j++;}while(j<lim);o[t]=s+x;}
K mx_s2r(int*a,int*o,int n,int*z){int t=threadIdx.x;int lim=a[t];int j=0,s=t;u32 x=0;
#pragma unroll 1
do{asm volatile("mov.u32 %0,%%smid;":"=r"(x));s=s*3+x; j++;}while(j<lim);o[t]=s+x;}
