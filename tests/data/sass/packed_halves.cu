#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define T threadIdx.x+blockIdx.x*blockDim.x
template<class V,class S> __device__ void packed(const V*a,const V*b,const V*c,V*o,int n){
  int i=T; if(i>=n)return; V x=a[i],y=b[i],z=c[i]; int k=0;
  #define P(e) o[(k++)*n+i]=(e);
  P(__hadd2(x,y)) P(__hsub2(x,y)) P(__hmul2(x,y)) P(__hfma2(x,y,z)) P(__hadd2_sat(x,y)) P(__hmul2_sat(x,y)) P(__hfma2_sat(x,y,z)) P(__hfma2_relu(x,y,z))
  P(__hneg2(x)) P(__habs2(x)) P(__hmin2(x,y)) P(__hmax2(x,y)) P(__hmin2_nan(x,y)) P(__hmax2_nan(x,y))
  P(__heq2(x,y)) P(__hlt2(x,y)) P(__hgeu2(x,y)) P(__hne2(x,y)) P(__hsub2(__hmul2(x,y),z))
}
template<class S> __device__ void single(const S*a,const S*b,const S*c,S*o,int*q,int n){
  int i=T; if(i>=n)return; S x=a[i],y=b[i],z=c[i]; int k=0,j=0;
  #define Q(e) q[(j++)*n+i]=(e);
  P(x+y) P(x-y) P(x*y) P(__hfma(x,y,z)) P(__hmin(x,y)) P(__hmax(x,y)) P(-x) P(__habs(x)) P(x<y?x:z) P(x==y?y:z) P(__hadd_sat(x,y)) P(hfloor(x)) P(hrint(x)) P(hceil(x)) P(htrunc(x))
  Q(x<y) Q(x==y) Q(__hequ(x,y)) Q(__hisnan(x))
}
extern "C" __global__ void half2_ops(const __half2*a,const __half2*b,const __half2*c,__half2*o,int n){packed<__half2,__half>(a,b,c,o,n);}
extern "C" __global__ void bf162_ops(const __nv_bfloat162*a,const __nv_bfloat162*b,const __nv_bfloat162*c,__nv_bfloat162*o,int n){packed<__nv_bfloat162,__nv_bfloat16>(a,b,c,o,n);}
extern "C" __global__ void half_ops(const __half*a,const __half*b,const __half*c,__half*o,int*q,int n){single<__half>(a,b,c,o,q,n);}
extern "C" __global__ void bf16_ops(const __nv_bfloat16*a,const __nv_bfloat16*b,const __nv_bfloat16*c,__nv_bfloat16*o,int*q,int n){single<__nv_bfloat16>(a,b,c,o,q,n);}
extern "C" __global__ void convert_ops(const float*f,const __nv_bfloat16*h,const __half*g,__nv_bfloat16*o,__half*p,float*r,int*q,int n){
  int i=T; if(i>=n)return; float x=f[i]; int k=0,j=0;
  P(__float2bfloat16_rn(x)) P(__float2bfloat16_rz(x)) 
  __nv_bfloat162 v=__floats2bfloat162_rn(x,f[n-1-i]); P(v.x) P(v.y) P(__int2bfloat16_rn(q[i])) P(__float2bfloat16_rn(__half2float(g[i])))
  p[i]=__float2half_rn(x); p[n+i]=__float2half_rz(x); __half2 w=__floats2half2_rn(x,f[n-1-i]); p[2*n+i]=w.x; p[3*n+i]=w.y; p[4*n+i]=__int2half_rn(q[i]);
  r[i]=__bfloat162float(h[i]); r[n+i]=__half2float(g[i]); r[2*n+i]=__bfloat162float(h[i])*x+__half2float(g[i]);
  Q(q[i]) Q(__bfloat162int_rz(h[i])) Q(__half2int_rn(g[i])) Q(__half2int_rz(g[i])) Q(__half2short_rz(g[i]))
}
