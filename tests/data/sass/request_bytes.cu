// one warp, each lane at an offset in bytes of its own: how bytes of a request are counted
typedef unsigned u32;
#define T(n,t) \
extern "C" __global__ void gld_##n(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile t*)(out+16*l)=*(volatile t*)(p+f);} }\
extern "C" __global__ void gst_##n(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile t*)(p+f)=(t)l;} }\
extern "C" __global__ void sld_##n(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile t*)(out+16*l)=*(volatile t*)(q+f);} }\
extern "C" __global__ void sst_##n(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile t*)(q+f)=(t)l;} }\
extern "C" __global__ void gen_##n(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ char*r=(mask==12345)?q:p; *(volatile t*)(out+16*l)=*(volatile t*)(r+f);} }
T(1,char) T(2,short) T(4,int) T(8,long long)
extern "C" __global__ void gld_16(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ uint4 x; asm volatile("ld.global.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x.x),"=r"(x.y),"=r"(x.z),"=r"(x.w):"l"(p+f)); *(volatile u32*)(out+16*l)=x.x;} }
extern "C" __global__ void gst_16(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(p+f),"r"(l));} }
extern "C" __global__ void sld_16(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ uint4 x; asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x.x),"=r"(x.y),"=r"(x.z),"=r"(x.w):"r"(f)); *(volatile u32*)(out+16*l)=x.x;} }
extern "C" __global__ void sst_16(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ asm volatile("st.shared.v4.u32 [%0],{%1,%1,%1,%1};"::"r"(f),"r"(l));} }
extern "C" __global__ void gat_4(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile int*)(out+16*l)=atomicAdd((int*)(p+f),1);} }
extern "C" __global__ void grd_4(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ atomicAdd((int*)(p+f),1);} }
extern "C" __global__ void grd_8(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ atomicAdd((unsigned long long*)(p+f),1ull);} }
extern "C" __global__ void sat_4(char*p,char*out,const int*off,int mask){extern __shared__ char q[]; int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ *(volatile int*)(out+16*l)=atomicAdd((int*)(q+f),1);} }
extern "C" __global__ void loc_4(char*p,char*out,const int*off,int mask){ int l=threadIdx.x; int a[64]; for(int i=0;i<64;i++) a[i]=i*l; int f=off[l]; if(mask>>l&1) *(volatile int*)(out+16*l)=a[(f/4)&63]; }
extern "C" __global__ void ldg2_4(char*p,char*out,const int*off,int mask){int l=threadIdx.x; int f=off[l]; if(mask>>l&1){ int x=*(volatile int*)(p+f); x+=*(volatile int*)(p+off[31-l]); *(volatile u32*)(out+16*l)=x;} }
