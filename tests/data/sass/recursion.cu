// Functions that call themselves, once, twice or each other; LOGGED: a clock and a tag of each place, per lane.
// One warp per block; lim and w, a and b in memory, decide each lane's path.
typedef unsigned u32;
#define M asm volatile("mad.lo.s32 %0,%0,3,%1;":"+r"(s):"r"(j));
#define M4 M M M M
#ifdef LOGGED
extern __shared__ int q_[];
__device__ u32 LG[128*256*32];
__device__ __forceinline__ void lg_(int tag){ u32 c; asm volatile("mov.u32 %0,%%clock;":"=r"(c)::"memory"); int t=threadIdx.x; int i=q_[t]; q_[t]=i+1; if(i<256) LG[(blockIdx.x*256+i)*32+t]=(c<<4)|tag; }
#define LOG(x) lg_(x);
#define INIT q_[threadIdx.x]=0; __syncwarp(); LOG(15)
#else
#define LOG(x)
#define INIT
#endif
#define K(name, ...) extern "C" __global__ void name(const int*a,const int*b,u32*o,int n,int*z,u32*lg){ \
 int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;int lim=a[g],w=b[g],s=t,j=1; INIT (void)w; __VA_ARGS__ ; LOG(14) o[g]=s;}
#define U1 _Pragma("unroll 1")
#define N __device__ __noinline__
N int r1(int d,int j){LOG(1) int s=d; if(d<=0){LOG(2) s=j;} else {M4 s+=r1(d-1,j+1); LOG(3) M} LOG(4) return s;}
N int r2(int d,int j){LOG(1) int s=d; M if(d<=0)return s+j; int x=r2(d-1,j+1); LOG(2) if((d+j)&1){x+=r2(d-2,j); LOG(3)} LOG(4) s=x; M return s;}
N int r3(int d,int j){LOG(1) int s=d; if(d<2) return j; if(j&1){ s=r3(d-1,j>>1); LOG(2)} else {s=r3(d-2,j>>1); LOG(3) M4} LOG(4) M return s;}
N int r4(int lo,int hi,int x,int j){LOG(1) int s=x; if(lo>=hi) return lo; M int m=(lo+hi)/2; if(m*3<x){ s=r4(m+1,hi,x,j)+s; LOG(2) return s;} s=r4(lo,m,x,j)^s; LOG(3) return s;}
N int r5(const int*z,int d,int x){LOG(1) if(d>30) return 0; int v=z[d&31]+d; int s=v; if(v>x){ s+=r5(z,2*d+1,x); LOG(2)} if(v+3>x){ s+=r5(z,2*d+2,x-1);LOG(3)} LOG(4) return s;}
N int fib(int d){LOG(1) if(d<2) return d; int x=fib(d-1); LOG(2) int y=fib(d-2); LOG(3) return x+y;}
N int ack(int m,int d){LOG(1) if(m==0) return d+1; if(d==0){ int x=ack(m-1,1); LOG(2) return x;} int y=ack(m,d-1); LOG(3) int x=ack(m-1,y); LOG(4) return x;}
N int hanoi(int d,int f,int t){LOG(1) if(d==0) return 0; int v=6-f-t; int x=hanoi(d-1,f,v); LOG(2) x=x*3+f*7+t; x+=hanoi(d-1,v,t); LOG(3) return x;}
N int even(int d,int s); 
N int odd(int d,int s){LOG(1) if(d==0) return s; int x=even(d-1,s*3+1); LOG(2) return x^5;}
N int even(int d,int s){LOG(3) if(d==0) return s+1; int x=odd(d-1,s+d); LOG(4) return x+d;}
N int qs(int*q,int lo,int hi,int d){LOG(1) if(lo>=hi) return d; int p=q[hi],i=lo; U1 for(int k=lo;k<hi;k++) if(q[k]<p){int x=q[i];q[i]=q[k];q[k]=x;i++;} int x=q[i];q[i]=q[hi];q[hi]=x; LOG(2) int r=qs(q,lo,i-1,d+1); LOG(3) r+=qs(q,i+1,hi,d+1); LOG(4) return r;}
N int bst(const int*z,int d,int key,int j){LOG(1) if(d>=31) return j; int v=z[d]; if(v==key) return d; int r=bst(z,key<v?2*d+1:2*d+2,key,j+1); LOG(2) return r+1;}
K(r_1, s=r1(lim&15,w);)
K(r_2, s=r2(lim&7,w);)
K(r_3, s=r3(lim&15,w*37);)
K(r_4, s=r4(0,lim*4,w*5,j);)
K(r_5, s=r5(z,lim&3,w);)
K(r_l, U1 for(;j<=(w&7);j++){LOG(5) s+=r1((lim+j)&7,w); LOG(6)})
K(r_fib, s=fib(lim&7);)
K(r_ack, s=ack(lim&1,w&3);)
K(r_han, s=hanoi(lim&3,1,2);)
K(r_mut, s=(w&1)?odd(lim&7,w):even(w&7,lim);)
K(r_qs, int q[10]; for(int i=0;i<10;i++)q[i]=(i*lim*37+w*i*i+t)&63; s=qs(q,0,9,0); for(int i=0;i<10;i++) s=s*3+q[i];)
K(r_bst, s=bst(z,0,w*3,lim);)
K(r_two, if(lim&1){LOG(5) s=r1(w&7,j);}else{LOG(6) s=r1(lim&7,j+1);} LOG(7) s+=r1(lim&3,s);)
