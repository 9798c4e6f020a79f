// Probes of how splits run, wait and join: loops with one to three exits, loads, stores, breaks inside ifs, nested
// loops, returns, switches, calls.  c, c2: clocks at the exits, which show the order in which splits pass them.
// One warp per block; lim and w, a and b in memory, decide each lane's path.
typedef unsigned u32;
#define K extern "C" __global__ void
__device__ __forceinline__ u32 ck(){unsigned long long c;asm volatile("mov.u64 %0,%%clock64;":"=l"(c)::"memory");return (u32)c;}
#define M asm volatile("mad.lo.s32 %0,%0,3,%1;":"+r"(s):"r"(j));
#define R0
#define R1 M
#define R2 M M
#define R4 R2 R2
#define R8 R4 R4
#define R16 R8 R8
#define R32 R16 R16
#define R64 R32 R32
#define R128 R64 R64
#define PRO int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;int lim=a[g];int w=b[g];int s=t;u32 c=0,c2=0;int j=1;u32 c0=ck();
#define EPI u32 c3=ck();o[g*5]=c0;o[g*5+1]=c;o[g*5+2]=c2;o[g*5+3]=c3;o[g*5+4]=s;
#define ARGS (int*a,int*b,u32*o,int n,int*z)

K brk_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){R0 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_1 ARGS{PRO _Pragma("unroll 1") for(;;j++){R1 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_2 ARGS{PRO _Pragma("unroll 1") for(;;j++){R2 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_4 ARGS{PRO _Pragma("unroll 1") for(;;j++){R4 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_8 ARGS{PRO _Pragma("unroll 1") for(;;j++){R8 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_16 ARGS{PRO _Pragma("unroll 1") for(;;j++){R16 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_32 ARGS{PRO _Pragma("unroll 1") for(;;j++){R32 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K brk_64 ARGS{PRO _Pragma("unroll 1") for(;;j++){R64 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K alu_0 ARGS{PRO
#pragma unroll 1
do{R0 j++;}while(j<=lim); EPI}
K alu_1 ARGS{PRO
#pragma unroll 1
do{R1 j++;}while(j<=lim); EPI}
K alu_2 ARGS{PRO
#pragma unroll 1
do{R2 j++;}while(j<=lim); EPI}
K alu_4 ARGS{PRO
#pragma unroll 1
do{R4 j++;}while(j<=lim); EPI}
K alu_8 ARGS{PRO
#pragma unroll 1
do{R8 j++;}while(j<=lim); EPI}
K alu_16 ARGS{PRO
#pragma unroll 1
do{R16 j++;}while(j<=lim); EPI}
K alu_32 ARGS{PRO
#pragma unroll 1
do{R32 j++;}while(j<=lim); EPI}
K ext_4 ARGS{PRO _Pragma("unroll 1") for(;;j++){R1 if(j>=lim){c=ck();R4 c2=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K ext_16 ARGS{PRO _Pragma("unroll 1") for(;;j++){R1 if(j>=lim){c=ck();R16 c2=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K ext_64 ARGS{PRO _Pragma("unroll 1") for(;;j++){R1 if(j>=lim){c=ck();R64 c2=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K ld_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)z)[j&31];R0 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K ld_8 ARGS{PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)z)[j&31];R8 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K ld_32 ARGS{PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)z)[j&31];R32 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K sh_0 ARGS{__shared__ int q[32];q[threadIdx.x]=threadIdx.x;PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)q)[j&31];R0 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K sh_8 ARGS{__shared__ int q[32];q[threadIdx.x]=threadIdx.x;PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)q)[j&31];R8 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;} } EPI}
K st_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){((volatile int*)z)[g&31]=j; R1 if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;}} EPI}
K fp_0 ARGS{PRO float f=t+1.5f; _Pragma("unroll 1") for(;;j++){asm volatile("rcp.approx.f32 %0,%0;":"+f"(f)); if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;}} s+=(int)f; EPI}
K dp_0 ARGS{PRO double f=t+1.5; _Pragma("unroll 1") for(;;j++){asm volatile("fma.rn.f64 %0,%0,%0,%0;":"+d"(f)); if(j>=lim){c=ck();s*=3;break;} if(s==n){s^=5;break;}} s+=(int)f; EPI}
K two_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){R0 if(j>=lim){c=ck();s*=3;break;} R1 if(j>=w){c2=ck();s^=5;break;} } EPI}
K two_2 ARGS{PRO _Pragma("unroll 1") for(;;j++){R2 if(j>=lim){c=ck();s*=3;break;} R1 if(j>=w){c2=ck();s^=5;break;} } EPI}
K two_8 ARGS{PRO _Pragma("unroll 1") for(;;j++){R8 if(j>=lim){c=ck();s*=3;break;} R1 if(j>=w){c2=ck();s^=5;break;} } EPI}
K two_32 ARGS{PRO _Pragma("unroll 1") for(;;j++){R32 if(j>=lim){c=ck();s*=3;break;} R1 if(j>=w){c2=ck();s^=5;break;} } EPI}
K twold_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){s+=((volatile int*)z)[j&31]; if(j>=lim){c=ck();s*=3;break;} R1 if(j>=w){c2=ck();s^=5;break;} } EPI}
K tri_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){R0 if(j>=lim)break; R1 if(j>=w)break; R1 if((s&n)==77) break;} EPI}
K tri_4 ARGS{PRO _Pragma("unroll 1") for(;;j++){R4 if(j>=lim)break; R1 if(j>=w)break; R1 if((s&n)==77) break;} EPI}
K inn_2 ARGS{PRO _Pragma("unroll 1") for(;;j++){ if((w>>(j&15))&1){R2 c=ck();}else{R2 R2 c2=ck();} if(j>=lim)break;} EPI}
K inn_16 ARGS{PRO _Pragma("unroll 1") for(;;j++){ if((w>>(j&15))&1){R16 c=ck();}else{R16 R2 c2=ck();} if(j>=lim)break;} EPI}
K bii_1 ARGS{PRO _Pragma("unroll 1") for(;;j++){ R1 if((w>>(j&15))&1){R8 if(j>=lim){c=ck();break;} R8 }else R16  if(j>=2*lim){c2=ck();break;} } EPI}
K bii_8 ARGS{PRO _Pragma("unroll 1") for(;;j++){ R8 if((w>>(j&15))&1){R8 if(j>=lim){c=ck();break;} R8 }else R16  if(j>=2*lim){c2=ck();break;} } EPI}
K nst_1 ARGS{PRO _Pragma("unroll 1") for(int i=0;i<(w&3)+1;i++){ _Pragma("unroll 1") for(int k=0;;k++){R1 j++; if(k>=((lim+i)&7)) break;} if(j>=lim*2){c=ck();break;} R4 } c2=ck(); EPI}
K nst_8 ARGS{PRO _Pragma("unroll 1") for(int i=0;i<(w&3)+1;i++){ _Pragma("unroll 1") for(int k=0;;k++){R8 j++; if(k>=((lim+i)&7)) break;} if(j>=lim*2){c=ck();break;} R4 } c2=ck(); EPI}
K ife_1 ARGS{PRO if(lim&1){c=ck();R1 R8 c2=ck();}else{c=ck();R16 R1 c2=ck();} EPI}
K ife_16 ARGS{PRO if(lim&1){c=ck();R16 R8 c2=ck();}else{c=ck();R16 R16 c2=ck();} EPI}
K ife_64 ARGS{PRO if(lim&1){c=ck();R64 R8 c2=ck();}else{c=ck();R16 R64 c2=ck();} EPI}
K if2_1 ARGS{PRO if(lim&1){ R8 if(lim&2){c=ck();R1 R8}else{c=ck();R16 R1} R8 c2=ck();}else{R16 if(w&2){c=ck();R1 R8}else{c=ck();R16 R1}R8 c2=ck();} EPI}
K if2_16 ARGS{PRO if(lim&1){ R8 if(lim&2){c=ck();R16 R8}else{c=ck();R16 R16} R8 c2=ck();}else{R16 if(w&2){c=ck();R16 R8}else{c=ck();R16 R16}R8 c2=ck();} EPI}
K ret_0 ARGS{PRO if(lim==1){o[g*5+1]=ck();return;} R8 if(lim==2){o[g*5+1]=ck();return;} R8 _Pragma("unroll 1") for(;;j++){R4 if(j>=lim){break;} if(j>=w){o[g*5+1]=ck();o[g*5]=c0;return;}} c=ck(); EPI}
K swi_0 ARGS{PRO switch(lim&7){case 0:R8 c=ck();R8 break;case 1:R16 c=ck();break;case 2:c=ck();R32 break;case 3:R4 c=ck();s^=3;R4 break;case 4:R8 R1 c=ck();break;case 5:c=ck();s*=7;R1 break;case 6:c=ck();R2 s+=77; break;default:c=ck();s=3;} EPI}
K wsy_0 ARGS{PRO if(lim&1){R8 c=ck();__syncwarp();R4 c2=ck();}else{R16 c=ck();__syncwarp();R8 c2=ck();} EPI}
__device__ __noinline__ int rec(int d,int j,int w){int s=d;R4 if(d<=0||s==12345)return s+w; int x=rec(d-1,j,w+1); if((d+w)&1)x+=rec(d-2,j,w);s=x;R2 return s;}
K rec_0 ARGS{PRO s=rec(lim&7,w,1); c=ck(); EPI}
__device__ __noinline__ int fn(int x,int j,u32*c){int s=x;R4 if(x&1){R8 s^=3; *c=ck();}else {R4 R2 s+=7;} R2 return s;}
K cal_0 ARGS{PRO _Pragma("unroll 1") for(;;j++){ if((w>>(j&15))&1) s=fn(s,j,&c); else s=fn(s+1,j,&c2); R2 if(j>=lim)break;} EPI}
K man_0 ARGS{PRO float x=0,y=0,p=(lim-20)*0.06f,q=(w-20)*0.05f; _Pragma("unroll 1") for(;j<n;j++){float u=x*x,v=y*y; if(u+v>4.f)break; y=2*x*y+q; x=u-v+p;} c=ck(); s=j; EPI}
K man_1 ARGS{PRO float x=0,y=0,p=(lim-20)*0.06f,q=(w-20)*0.05f; _Pragma("unroll 1") for(;j<n;j++){float u=x*x,v=y*y; if(u+v>4.f){c2=ck();break;} y=2*x*y+q; x=u-v+p; if(x==y)break;} c=ck(); s=j; EPI}
K pri_0 ARGS{PRO int m=lim*7+w; int f=2; _Pragma("unroll 1") while(f*f<=m){ if(m%f==0){c=ck();break;} f++;} s=f; c2=ck(); EPI}
K col_0 ARGS{PRO u32 m=lim*9+w; int f=0; _Pragma("unroll 1") while(m!=1){ if(m&1){m=3*m+1;R8}else{m>>=1;} f++; if(f>n)break;} s+=f; c2=ck(); EPI}
