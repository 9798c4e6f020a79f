// Loops into which the compiler puts YIELD: those that write memory and call, or wait for a word, around code in which
// lanes part.  One warp per block; lim and w, a and b in memory, decide each lane's path.
typedef unsigned u32;
#define M asm volatile("mad.lo.s32 %0,%0,3,%1;":"+r"(s):"r"(j));
#define M4 M M M M
#define M16 M4 M4 M4 M4
#define K(name, ...) extern "C" __global__ void name(const int*a,const int*b,u32*o,int n,int*z,u32*lg){ \
 int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;int lim=a[g],w=b[g],s=t,j=1;TURN lg+=blockIdx.x*64*32; (void)w;(void)j; __VA_ARGS__ ; o[g]=s;}
#define U1 _Pragma("unroll 1")
#ifdef TURNS  // where a lane is, with whom, and when: the order in which splits run without a profiler
#define ADD {if(at<TURNS){z[(g*TURNS+at)*3]=__activemask();z[(g*TURNS+at)*3+1]=clock();z[(g*TURNS+at)*3+2]=__COUNTER__;} at++; atomicAdd(&lg[(s+j)&63],1);}
#define TURN int at=0;
#else
#define ADD atomicAdd(&lg[(s+j)&63],1);
#define TURN
#endif
#define PUT lg[(t*3+j)&63]=s;
#define F s=f1(s,j);
__device__ __noinline__ int f1(int x,int j){int s=x;M4 if(x&1){M4 M4 s^=3;}else{M4 s+=7;} M return s;}
__device__ __noinline__ int f2(int x,int j){int s=x; U1 for(int q=0;q<(x&3)+1;q++){M4} return s;}
__device__ __noinline__ int f4(int x,int j){int s=x;M4 M4 return s;}
__device__ __noinline__ int f5(int x,int j,u32*lg){int s=x; U1 for(;j<(x&7)+1;j++){if((x>>(j&3))&1){s=f4(s,j);} atomicAdd(&lg[(s+j)&63],1);} return s;}
// one loop
K(y_add, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){F} ADD})
K(y_addall, U1 for(;j<=lim;j++){ F ADD})
K(y_straight, U1 for(;j<=lim;j++){ s=f4(s,j); ADD})
K(y_put, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){s=f4(s,j);} PUT ADD})
K(y_addin, U1 for(;j<=lim;j++){ M if((w>>(j&7))&1){F ADD}})
K(y_else, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){F ADD}else{M16 M4 M4} M4})
K(y_both, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){M16 ADD}else{s=f4(s,j); PUT} M4})
K(y_two, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){s=f4(s,j);} ADD if((lim>>(j&3))&1){M16} PUT})
K(y_deep, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){ M16 if((lim>>(j&3))&1){s=f2(s,j); ADD}else{M4 M4} M4} PUT})
K(y_break, U1 for(;;j++){ if((w>>(j&7))&1){F ADD} if(j>=lim){s*=3;break;} M if(j>=w){ADD s^=5;break;}})
K(y_breakin, U1 for(;;j++){ ADD if((w>>(j&7))&1){M4 if(j>=lim){s^=7;break;} F}else{M16 if(j>=2*lim){s^=9;break;}} if(j>50)break;})
K(y_continue, U1 for(;j<lim;j++){ if((w>>(j&7))&1){M4 ADD continue;} F if((w>>(j&3))&2){PUT M continue;} M4 ADD})
K(y_return, U1 for(;j<lim;j++){ if((w>>(j&7))&1){F ADD} if((s&31)==7){o[g]=s;return;} M4 PUT})
K(y_div, float f=lim*1e-3f; U1 for(;j<=w;j++){ f=(f+j)/(f*1e-38f*(w&1?1.f:1e30f)+lim); ADD} s+=(int)f;)
K(y_sqrt, float f=lim*1e-3f; U1 for(;j<=w;j++){ f=sqrtf(f+j*(lim&1?1.f:1e-30f)); if(f>1.5f){M16} ADD} s+=(int)f;)
K(y_double, double f=lim*1e-3; U1 for(;j<=w;j++){ f=sqrt(f+j)/(lim+f*(lim&1?1e-300:1)); PUT ADD} s+=(int)(f*1000);)
K(y_calls, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){F}else{s=f2(s,j); ADD} PUT})
K(y_within, U1 for(;j<=lim;j++){ s=f5(s+w,j,lg); if(s&1){M16}})
#define SW(e) switch(e){case 0:M4 ADD break;case 1:s^=j;F break;case 2:s*=j|1;M PUT break;case 3:M4 s^=3;M4 break;case 4:s=f2(s,j); s+=9;ADD break;case 5:s*=7;M break;case 6:M s+=77; break;default:s=3;}
K(y_switch, U1 for(;j<=w;j++){ SW((lim+j*w)&7)})
// loops in loops
K(y_box, U1 for(int y=0;y<(w&7)+1;y++) U1 for(int x=0;x<(lim&7)+1;x++){ if((x*x+y*y+g)%3==0){F} j=x+y; ADD})
K(y_box1, U1 for(int y=0;y<6;y++) U1 for(int x=0;x<5+(lim&1);x++){ s=f4(s,j); j=x+y; ADD})
K(y_box2, U1 for(int y=0;y<6;y++) U1 for(int x=0;x<5+(lim&1);x++){ if((x*x+y*y+g)%3==0){s=f4(s,j);} j=x+y; ADD})
K(y_box3, U1 for(int y=0;y<5+(w&1);y++) U1 for(int x=0;x<5+(lim&1);x++){ if((x*y+g)%5<2){M16 if(x*y&1){F}else{M16}} j=x+y; ADD PUT})
K(y_boxput, U1 for(int y=0;y<(w&7)+1;y++) U1 for(int x=0;x<(lim&7)+1;x++){ if((x*x+y*y+g)%3==0){s=f2(s,j);} j=x+y; PUT ADD})
K(y_boxout, U1 for(int y=0;y<(w&7)+1;y++){ U1 for(int x=0;x<((lim+y)&7)+1;x++){ if((x*x+y*y+g)%3==0){F}} j=y; ADD})
K(y_boxboth, U1 for(int y=0;y<(w&7)+1;y++){ U1 for(int x=0;x<((lim+y)&7)+1;x++){ if((x*x+y*y+g)%3==0){F} j=x; ADD} if(y&w){M16} PUT})
K(y_boxif, U1 for(int y=0;y<(w&7)+1;y++){ if((y^lim)&1){ U1 for(int x=0;x<((lim+y)&7)+1;x++){ if((x+y*y+g)%3==0){F} j=x; ADD}} M4})
K(y_boxcont, U1 for(int y=0;y<(w&7)+1;y++){ if((y*lim)%3==1) continue; U1 for(int x=0;x<((lim+y)&7)+1;x++){ if((x+y*y+g)%3==0) continue; j=x; F ADD}})
K(y_boxbreak, U1 for(int y=0;y<(w&7)+1;y++){ U1 for(int x=0;;x++){ if((x+y*y+g)%3==0){F} j=x; ADD if(x>((lim+y)&7))break; M4} if(s&32)break;})
K(y_boxgoto, int y; U1 for(y=0;y<(w&7)+2;y++){ U1 for(int x=0;x<((lim+y)&7)+1;x++){ if((x+y*y+g)%3==0){F} ADD if(++j>lim+4) goto out;}} s+=y; out:;)
K(y_boxdiv, float f=lim*1e-3f; U1 for(int y=0;y<5+(w&1);y++) U1 for(int x=0;x<5+(lim&1);x++){ float q=x*x+y*y-0.25f*(lim&15); float v=0; if(q<20.f) v=sqrtf(fabsf(q))/(1.f+f); j=x+y; ADD atomicAdd((float*)&lg[(x+y*8)&63],v);})
K(y_3, U1 for(int i=0;i<(w&3)+1;i++) U1 for(int q=0;q<((lim+i)&3)+1;q++) U1 for(int r=0;r<((w+q+i)&3)+1;r++){ if((r+q*i+g)&1){F} j=r; ADD})
K(y_3puts, U1 for(int i=0;i<(w&3)+1;i++){ U1 for(int q=0;q<((lim+i)&3)+1;q++){ U1 for(int r=0;r<((w+q+i)&3)+1;r++){ if((r+q*i+g)&1){F} j=r; ADD} if(q&w){M16} PUT} if(lim&i){M4 ADD}})
K(y_while, int x=lim; U1 while(x>0){ int y=w; U1 while(y>x){ y-=x; if(y&1){F} ADD} x-=(y&3)+1; PUT})
K(y_seq, U1 for(;j<lim;j++){if((w>>(j&3))&1){F} ADD} U1 for(;j<lim+w;j++){if((lim>>(j&3))&1){s=f4(s,j);} PUT} )
K(y_seqif, if(w&1){U1 for(;j<lim;j++){if((w>>(j&3))&1){F} ADD}}else{U1 for(;j<w;j++){if((lim>>(j&3))&1){s=f2(s,j);} PUT}} U1 for(int q=0;q<(lim&3);q++){M4})
// waits for others' words
K(y_try, U1 for(int q=0;q<(w&3)+1;q++){ u32 old=lg[j&63],seen; U1 do{ seen=old; old=atomicCAS(&lg[(g+q)&1],seen,seen+lim); j++; }while(old!=seen); if(old&1){M16}})
K(y_max, U1 for(;j<=lim;j++){ u32 v=(s*j)&1023; u32 old=lg[j&7]; while(v>old){ u32 seen=atomicCAS(&lg[j&7],old,v); if(seen==old)break; old=seen;} if(w&j){M16}})
K(y_maxes, U1 for(;j<=lim;j++){ float v=(s*j)&1023; int* at=(int*)&lg[(t*j)&7]; int old=*at,seen; do{ seen=old; old=atomicCAS(at,seen,__float_as_int(fmaxf(v,__int_as_float(seen)))); }while(old!=seen); })
K(y_lock, U1 for(int q=0;q<(w&1)+1;q++){ bool done=false; while(!done){ if(atomicCAS(&lg[0],0,1)==0){ lg[1]+=lim; __threadfence(); atomicExch(&lg[0],0); done=true;} } })
K(y_locks, U1 for(int q=0;q<(w&3)+1;q++){ int at=(lim+q)&3; bool done=false; while(!done){ if(atomicCAS(&lg[at],0,1)==0){ lg[at+8]+=lim; if(lim&1){M16} __threadfence(); atomicExch(&lg[at],0); done=true;} } })
K(y_double_add, double f=lim; U1 for(int q=0;q<(w&3)+1;q++){ unsigned long long* at=(unsigned long long*)&lg[((lim+q)&3)*2]; unsigned long long old=*at,seen; do{ seen=old; old=atomicCAS(at,seen,__double_as_longlong(f+__longlong_as_double(seen))); }while(old!=seen); })
// small algorithms that write as they go
K(y_splat, float cx=(lim&31)*0.5f,cy=(w&31)*0.25f; int x0=max(0,(int)(cx-2.5f)),x1=min(15,(int)(cx+2.5f)),y0=max(0,(int)(cy-2.5f)),y1=min(7,(int)(cy+2.5f)); for(int y=y0;y<=y1;y++) for(int x=x0;x<=x1;x++){ float dx=cx-x,dy=cy-y,r=dx*dx+dy*dy; float v=0; if(r<6.25f) v=expf(-r)/(1.f+sqrtf(6.25f-r)); ADD atomicAdd((float*)&lg[(y*16+x)&63],v);} )
K(y_bodies, float x=lim,y=w,vx=0,vy=0; for(int i=0;i<(lim&7)+1;i++){ float dx=i-x,dy=i*2-y,r=dx*dx+dy*dy; if(r>0.5f){ float q=1.f/sqrtf(r); vx+=dx*q; vy+=dy*q; } x+=vx; y+=vy; j=i; ADD } s=(int)(x+y);)
K(y_newton, for(int i=0;i<(w&7)+1;i++){ float x=lim+i; for(int k=0;k<20;k++){ float d=x*x-w; if(fabsf(d)<1e-3f*w) break; x-=d/(2.f*x); ADD } lg[(t+i)&63]=__float_as_int(x); })
K(y_modulo, for(int i=0;i<(w&7)+1;i++){ long long v=lim*1000003ll+i; while(v>5){ v=v%(w*7ll+(v&1?3:100000000000ll)); if(v&1) v--; ADD j++; if(j>20) break; } })
K(y_divisors, for(int i=1;i<=(lim&15);i++){ int c=0; for(long long d=1;d<=i;d++) if(((long long)i*w)%d==0) c++; if(c>2) PUT ADD s+=c; })
K(y_mandel, for(int i=0;i<(w&3)+1;i++){ float x=0,y=0; int k=0; float u=(lim&31)*0.1f-2,v=i*0.3f-0.5f; while(x*x+y*y<4.f&&k<24){ float q=x*x-y*y+u; y=2*x*y+v; x=q/(1.f+0.001f*k); k++; } j=k; ADD if(k<5){F} })
