// Warp synchronisation after shuffles and in both sides of branches; functions called from divergent loops.
// One warp per block; lim and w, a and b in memory, decide each lane's path.
typedef unsigned u32;
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define M asm volatile("mad.lo.s32 %0,%0,3,%1;":"+r"(s):"r"(j));
#define M4 M M M M
#define F 0xffffffffu
#define K(name, ...) extern "C" __global__ void name(const int*a,const int*b,u32*o,int n,int*z,u32*lg){ \
 int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;int lim=a[g],w=b[g],s=t,j=1; (void)w; __VA_ARGS__ ; o[g]=s+j;}
#define U1 _Pragma("unroll 1")
#define N __device__ __noinline__
__device__ __forceinline__ int wsum(int s){ for(int d=16;d;d>>=1) s+=__shfl_xor_sync(F,s,d); return s;}
N int nsum(int s){ for(int d=16;d;d>>=1) s+=__shfl_down_sync(F,s,d); return s;}
N int nshf(int s,int d){ return __shfl_xor_sync(F,s,d); }
K(ws_plain, U1 for(int i=0;i<n;i++){ s=wsum(s); M })
K(ws_after_if, U1 for(int i=0;i<n;i++){ if((w>>i)&1){M4} s=wsum(s); })
K(ws_after_loop, U1 for(int i=0;i<n;i++){ U1 for(int q=0;q<((lim+i)&3);q++){M} s=wsum(s)+i; })
K(ws_ptr, U1 for(int i=0;i<n+z[t];i++){ s=wsum(s); __syncwarp(); z[64+t]=s; __syncwarp(); s+=z[64+((t+1)&31)]; __syncwarp(); })
K(ws_ptr2, U1 for(int i=0;i<n+z[t];i++){ s+=__shfl_sync(F,s,i); s+=__shfl_up_sync(F,s,1); __syncwarp(); M })
K(ws_while, U1 while(__any_sync(F,j<lim)){ s+=__shfl_xor_sync(F,s,1); s+=__shfl_xor_sync(F,s,2); j+=1+(w&1); })
K(ws_scan, U1 for(int i=0;i<n+z[t];i++){ int x=s; for(int d=1;d<32;d<<=1){int y=__shfl_up_sync(F,x,d); if(t>=d) x+=y;} s=x&0xffff; })
K(ws_scanw, U1 for(int i=0;i<n+z[t];i++){ int x=s; U1 for(int d=1;d<32;d<<=1){int y=__shfl_up_sync(F,x,d); if(t>=d){ x+=y; M} __syncwarp();} s=x&0xffff; })
K(ws_call, U1 for(int i=0;i<n+z[t];i++){ s=nsum(s); M })
K(ws_call2, U1 for(int i=0;i<n;i++){ if((w>>i)&1){M4} s=nshf(s,1); if((lim>>i)&1){M} s=nshf(s,2); __syncwarp(); })
K(ws_cg, auto tile=cg::tiled_partition<32>(cg::this_thread_block()); U1 for(int i=0;i<n+z[t];i++){ for(int d=16;d;d>>=1) s+=tile.shfl_xor(s,d); tile.sync(); M})
K(ws_cg8, auto tile=cg::tiled_partition<8>(cg::this_thread_block()); U1 for(int i=0;i<n+z[t];i++){ if((w>>(i&7))&1){M4} for(int d=4;d;d>>=1) s+=tile.shfl_xor(s,d); tile.sync(); M})
K(ws_cgc, U1 for(int i=0;i<n;i++){ if((w>>(i&7))&1){ auto c=cg::coalesced_threads(); s+=c.shfl(s,0)+c.size(); c.sync(); M} else {M4} })
K(ws_red, U1 for(int i=0;i<n+z[t];i++){ if(s&1){M} s+=__reduce_max_sync(F,s&15); s+=__popc(__ballot_sync(F,s&1)); __syncwarp(); })
K(ws_half, U1 for(int i=0;i<n;i++){ u32 m=t<16?0xffffu:0xffff0000u; if((w>>i)&1){M4} s+=__shfl_xor_sync(m,s,1); __syncwarp(m); M })
K(ws_in, U1 for(int i=0;i<n;i++){ if((lim>>i)&1){ M4 __syncwarp(); s+=__shfl_xor_sync(F,s,1); } else { M __syncwarp(); s+=__shfl_xor_sync(F,s,1); } })
K(ws_in2, U1 for(int i=0;i<n;i++){ if((lim>>i)&1){ M4 __syncwarp(); } else { M __syncwarp(); } M })
K(ws_in3, if(lim&1){ M4 __syncwarp(); M } else { M __syncwarp(); M4 } M)
K(ws_in4, U1 for(int i=0;i<n;i++){ if((lim>>i)&1){ M4 if((w>>i)&1){M} __syncwarp(); M} else { M __syncwarp(); M4} __syncwarp(); M })
K(ws_in5, U1 for(int i=0;i<n;i++){ if((lim>>i)&1){ M4 s+=__shfl_xor_sync(F,s,1);} else { M s+=__shfl_xor_sync(F,s,2);} s+=__shfl_xor_sync(F,s,4); })
K(ws_in6, if((lim&3)==0){ M4 __syncwarp(); M } else if((lim&3)==1){ M __syncwarp(); M4 } else if((lim&3)==2) {M4 M4 __syncwarp();} else {M4 M __syncwarp(); M M} M)
K(ws_in7, U1 for(int i=0;i<n;i++){ U1 for(int q=0;q<((lim+i)&3);q++){M} if((w>>i)&1){ M4 __syncwarp(); } else { __syncwarp(); M} })
N int f1(int x,int j){int s=x;M4 if(x&1){M4 M4 s^=3;}else{M4 s+=7;} M return s;}
N int f2(int x,int j){int s=x; U1 for(int q=0;q<(x&3)+1;q++){M4} return s;}
N int f3(int x,int j){int s=f1(x,j); if(x&2) s=f2(s,j); return s+1;}
N int f4(int x,int j){int s=x;M4 M4 return s;}
N int f5(int x,int j){int s=x; if(x&4) return s+j; M4 if(x&8) return s^j; M4 return s;}
N int f6(int x,int j){int s=x; U1 for(int q=0;q<(x&3)+1;q++){s=f1(s,j); if((s&7)==5) return s;} return s;}
N float f7(float x,float y){ return x/y; }
N int f8(int*z,int x){ int v=z[x&31]; if(v&1) v+=z[(x+1)&31]; return v; }
N int f9(int x,int j){int s=x; s=f2(s,j); s=f2(s+1,j); if(s&1) s=f2(s,j); return s;}
N int fa(int x,int j){int s=x; s=f3(s,j); if(x&1) s=f3(s,j); return s;}
K(ca_while, U1 while(j<lim){ s=f1(s,j); j++;})
K(ca_ifwhile, if(w&1){ U1 while(j<lim){ s=f1(s,j); j++;} } M)
K(ca_two, U1 while(j<lim){ if((s>>2)&1) s=f1(s,j); else s=f4(s,j); j++;})
K(ca_early, U1 while(j<lim){ s=f5(s,j); j++;})
K(ca_early2, U1 while(j<lim+w){ s=f5(s,j); if((s&31)==7) break; j++;})
K(ca_loop, U1 while(j<lim){ s=f6(s,j); j++;})
K(ca_div, float f=lim; U1 while(j<w){ f=f7(f,j+0.5f); if(f>4.f) f=f7(f,3.f); j++;} s+=(int)(f*100);)
K(ca_mem, U1 while(j<lim){ s+=f8(z,s); j++; if((s&63)==5) break;})
K(ca_nest, U1 for(int i=0;i<(w&7);i++){ U1 for(int q=0;q<((lim+i)&3);q++){ s=f1(s,q);} s=f2(s,i);})
K(ca_sw, U1 while(j<lim){ switch((s+w)&3){case 0:s=f1(s,j);break;case 1:s=f2(s,j);break;case 2:s=f4(s,j);break;default:s=f5(s,j);} j++;})
K(ca_f9, U1 while(j<lim){ s=f9(s,j); j++;})
K(ca_f3, U1 while(j<lim){ s=f3(s+w,j); j++;})
K(ca_fa, U1 while(j<lim){ s=fa(s+w,j); j++;})
K(ca_fa1, s=fa(lim,w);)
K(ca_f31, s=f3(lim,w);)
K(ca_f32, s=f3(lim,w); s+=f3(w,lim);)
K(ca_f33, if(w&1){s=f3(lim,w);}else{M4 M4} s+=f3(w,lim);)
K(ca_cont, U1 for(;j<lim;j++){ if((w>>(j&7))&1) continue; s=f1(s,j); if((s&7)==1) continue; s=f2(s,j);})
typedef int (*fp)(int,int);
__device__ fp tab[4]={f1,f2,f3,f5};
K(ca_ind, U1 while(j<lim){ s=tab[(w+j+s)&3](s,j); j++;})
K(ca_ind2, fp f=tab[w&3]; U1 while(j<lim){ s=f(s,j); if((s&15)==3) f=tab[(s>>4)&3]; j++;})
K(ca_ret, U1 while(j<lim){ s=f5(s,j); if((s&31)==7){ o[g]=s; return;} j++;})
