// Shapes of divergence: loops with one to three exits, nested, with memory accesses, switches, calls, recursion, early
// returns, warp synchronisation; small algorithms.  One warp per block; lim and w, a and b in memory, decide each
// lane's path.  LOG marks a place by an addition.
typedef unsigned u32;
#define M asm volatile("mad.lo.s32 %0,%0,3,%1;":"+r"(s):"r"(j));
#define M4 M M M M
#define M16 M4 M4 M4 M4
#define LOG(x) {asm volatile("mad.lo.s32 %0,%0,5,%1;":"+r"(s):"r"(k)); k+=x;}
#define K(name, ...) extern "C" __global__ void name(const int*a,const int*b,u32*o,int n,int*z,u32*lg){ \
 int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;int lim=a[g],w=b[g],s=t,j=1,k=0;lg+=blockIdx.x*64*32+t; (void)w; __VA_ARGS__ ; LOG(63) o[g]=s+k;}
#define U1 _Pragma("unroll 1")
#define VZ ((volatile int*)z)
// single loops
K(l_do, U1 do{LOG(1) j++;}while(j<=lim);)
K(l_dom, U1 do{LOG(1) M16 j++;}while(j<=lim);)
K(l_while, U1 while(j<lim){LOG(1) M j++;})
K(l_ex2, U1 for(;;j++){LOG(1) if(j>=lim){LOG(2) s*=3;break;} M if(j>=w){LOG(3) s^=5;break;}})
K(l_ex2m, U1 for(;;j++){LOG(1) M16 if(j>=lim){LOG(2) s*=3;break;} M4 if(j>=w){LOG(3) s^=5;break;}})
K(l_ex3, U1 for(;;j++){LOG(1) if(j>=lim){LOG(2) s*=3;break;} M if(j>=w){LOG(3) s^=5;break;} M if(j*3>=lim+w){LOG(4) s+=7;break;}})
K(l_ex3n, U1 for(;;j++){LOG(1) if(j>=lim)break; M if(j>=w)break; M if(j*3>=lim+w) break;})
K(l_cont, U1 for(;j<lim;j++){LOG(1) if((w>>(j&7))&1){LOG(2) continue;} M4 LOG(3)})
K(l_cont2, U1 for(;j<lim;j++){LOG(1) if((w>>(j&7))&1){LOG(2) M4 continue;} if((w>>(j&3))&2){LOG(3) M16 continue;} M4 LOG(4)})
K(l_if, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) M16} LOG(2)})
K(l_ife, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) M16 M4}else{LOG(2) M16 M16} LOG(3)})
K(l_ife2, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) if((lim>>(j&3))&1){M16 LOG(2)}else{M16 M4 LOG(3)} M4}else{LOG(4) M16 M16} LOG(5)})
K(l_brkin, U1 for(;;j++){ if((w>>(j&7))&1){LOG(1) M4 if(j>=lim){LOG(2) break;} M16}else{LOG(3) M16 if(j>=2*lim){LOG(4) s^=9;break;}} if(j>50)break;})
K(l_brkin2, U1 for(;;j++){ M if((w>>(j&7))&1){M4 if(j>=lim){LOG(1) break;} M16 LOG(2)}else{M16 M4 LOG(3)} if(j>=2*lim){LOG(4) break;}})
K(l_brkin3, U1 for(;;j++){ if((w>>(j&7))&1){M16 if((w>>(j&3))&1){LOG(1) if(j>=lim){LOG(2) break;} M16} M4 }else{M16 M4 LOG(3)} if(j>=lim+w){LOG(4) break;}})
// nested loops
K(n_for, U1 for(int i=0;i<(w&7)+1;i++){ U1 for(int q=0;q<((lim+i)&7)+1;q++){LOG(1) M} LOG(2) M4})
K(n_form, U1 for(int i=0;i<(w&7)+1;i++){ U1 for(int q=0;q<((lim*(i+1))&7)+1;q++){LOG(1) M16} LOG(2) M4})
K(n_brk, U1 for(int i=0;i<(w&7)+1;i++){ U1 for(int q=0;;q++){LOG(1) M j++; if(q>=((lim+i)&7)) break;} if(j>=lim*2){LOG(2) break;} M4 LOG(3)})
K(n_2, U1 for(int i=0;i<(w&7)+1;i++){ U1 for(int q=0;;q++){LOG(1) M j++; if(q>=((lim+i)&7)) {s^=3;break;} if(q>=((w*i)&7)) {s*=7;LOG(4) break;}} if(j>=lim*2){LOG(2) break;} M4 LOG(3)})
K(n_out, int i; U1 for(i=0;i<(w&7)+2;i++){ U1 for(int q=0;q<((lim+i)&7)+1;q++){LOG(1) M if(++j>lim+4){LOG(2) goto out;}} LOG(3)} s+=i; out:;)
K(n_3, U1 for(int i=0;i<(w&3)+1;i++){ U1 for(int q=0;q<((lim+i)&3)+1;q++){ M U1 for(int r=0;r<((w+q+i)&3);r++){LOG(1) M} LOG(2)} LOG(3) M4})
K(n_whl, int x=lim; U1 while(x>0){LOG(1) int y=w; U1 while(y>x){LOG(2) y-=x; M} x-=(y&3)+1; LOG(3)})
K(n_seq, U1 for(;j<lim;j++){LOG(1) M} U1 for(;j<lim+w;j++){LOG(2) M4} U1 for(int q=0;q<(s&3);q++){LOG(3) M})
K(n_seqif, if(w&1){U1 for(;j<lim;j++){LOG(1) M}}else{U1 for(;j<w;j++){LOG(2) M4}} LOG(3) U1 for(int q=0;q<(lim&3);q++){LOG(4) M})
// memory
K(m_ldv, U1 for(;;j++){LOG(1) s+=VZ[j&31]; if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
K(m_ld, U1 for(;;j++){LOG(1) s+=z[(s+j)&31]; if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
K(m_st, U1 for(;;j++){LOG(1) VZ[g&31]=j; M if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
K(m_sh, __shared__ int q[32];q[t]=t;U1 for(;;j++){LOG(1) s+=q[(s+j)&31]; if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
K(m_ldif, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) s+=z[(s+j)&31];}else{LOG(2) M16 s^=z[(j*3)&31];} LOG(3)})
K(m_atom, U1 for(;;j++){LOG(1) atomicAdd(&z[32+(g&31)],1); if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
K(m_loc, int q[40]; for(int i=0;i<40;i++)q[i]=i*lim; U1 for(;;j++){LOG(1) q[(s+j)&31]=j; s+=q[(s*3+j)&31]; if(j>=lim){LOG(2) s*=3;break;} if(s==n){s^=5;break;}})
// switch
#define SW(e) switch(e){case 0:LOG(1) M4 break;case 1:LOG(2) s^=j;M16 break;case 2:LOG(3) s*=j|1;M break;case 3:LOG(4) M4 s^=3;M4 break;case 4:LOG(5) M16 s+=9;break;case 5:LOG(6) s*=7;M break;case 6:LOG(7) M s+=77; break;default:LOG(8) s=3;}
K(s_one, SW(lim&7) LOG(9))
K(s_lp, U1 for(;j<=w;j++){ SW((lim+j*w)&7) LOG(9)})
K(s_lp2, U1 for(;;j++){ SW((lim*j)&7) if(j>=w){LOG(10) break;} M4 if(j>=lim){LOG(11) break;}})
K(s_ret, U1 for(;;j++){ switch((lim>>(j&3))&7){case 0:LOG(1) M4 break;case 1:LOG(2) s^=j;M16 break;case 2:LOG(3) s*=j|1; if(j>=w){o[g]=s;return;} M break;case 3:LOG(4) M4 s^=3;M4 break;case 4:LOG(5) M16 s+=9;break;case 5:LOG(6) s*=7;M break;case 6:LOG(7) M s+=77; break;default:LOG(8) s=3;} if(j>=w+2)break;})
K(s_state, int st=lim&7; U1 while(st!=9){ switch(st){case 0:LOG(1) M4 st=w&7;w>>=1;break;case 1:LOG(2) M16 st=(s&4)?2:3;break;case 2:LOG(3) st=4;M break;case 3:LOG(4) M4 st=7;s^=3;break;case 4:LOG(5) M16 st=(j&3)?5:6;break;case 5:LOG(6) s*=7;st=w&1?7:0;w>>=1;break;case 6:LOG(7) M st=1;w-=3; break;default:LOG(8) s+=3;st=w>0?(w&3):9;w-=2;} if(++j>24)st=9;})
// calls
__device__ __noinline__ int f1(int x,int j){int s=x;M4 if(x&1){M4 M4 s^=3;}else{M4 s+=7;} M return s;}
__device__ __noinline__ int f2(int x,int j){int s=x; U1 for(int q=0;q<(x&3)+1;q++){M4} return s;}
__device__ __noinline__ int f3(int x,int j){int s=f1(x,j); if(x&2) s=f2(s,j); return s+1;}
__device__ __noinline__ int f4(int x,int j){int s=x;M4 M4 return s;}
K(c_if, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) s=f1(s,j);}else{LOG(2) s=f1(s+1,j);} LOG(3)})
K(c_str, U1 for(;j<=lim;j++){ if((w>>(j&7))&1){LOG(1) s=f4(s,j);}else{LOG(2) s=f4(s+1,j);} LOG(3)})
K(c_lp, U1 for(;j<=lim;j++){ LOG(1) s=f1(s+w,j); LOG(2)})
K(c_lp4, U1 for(;j<=lim;j++){ LOG(1) s=f4(s+w,j); LOG(2)})
K(c_lp2, U1 for(;j<=lim;j++){ LOG(1) s=f2(s+w,j); LOG(2)})
K(c_lp3, U1 for(;j<=lim;j++){ LOG(1) s=f3(s+w,j); LOG(2)})
K(c_brk, U1 for(;;j++){ LOG(1) s=f2(s+w,j); if(j>=lim){LOG(2) break;} if((s&15)==3){LOG(3) s=f1(s,j);break;} LOG(4)})
K(c_two, if(lim&1){LOG(1) U1 for(;j<w;j++)s=f1(s,j);}else{LOG(2) s=f2(s,j); U1 for(;j<lim;j++)s=f3(s,j);} LOG(3))
typedef int (*fp)(int,int);
__device__ fp tab[4]={f1,f2,f3,f4};
K(c_ind, U1 for(;j<=lim;j++){ LOG(1) s=tab[(w+j)&3](s,j); LOG(2)})
K(c_div, float f=lim*1e-3f; U1 for(;j<=w;j++){ LOG(1) f=(f+j)/(f*1e-38f*(w&1?1.f:1e30f)+lim); LOG(2)} s+=(int)f;)
K(c_dsq, double f=lim*1e-3; U1 for(;j<=w;j++){ LOG(1) f=sqrt(f+j)/(lim+f); LOG(2)} s+=(int)(f*1000);)
K(c_mod, long long x=lim*1000003ll+w; U1 for(;j<=(w&15);j++){ LOG(1) x=(x*(w&1?1:77777777777ll))%(j+lim*((lim&2)?1ll:5000000000ll)); LOG(2)} s+=(int)x;)
// recursion
__device__ __noinline__ int r1(int d,int j){int s=d; if(d<=0)return j; M4 s+=r1(d-1,j+1); M return s;}
__device__ __noinline__ int r2(int d,int j){int s=d; M if(d<=0)return s+j; int x=r2(d-1,j+1); if((d+j)&1)x+=r2(d-2,j); s=x; M return s;}
__device__ __noinline__ int r3(int d,int j){int s=d; if(d<2) return j; if(j&1) s=r3(d-1,j>>1); else {s=r3(d-2,j>>1); M4} M return s;}
__device__ __noinline__ int r4(int lo,int hi,int x,int j){int s=x; if(lo>=hi) return lo; M int m=(lo+hi)/2; if(m*3<x) return r4(m+1,hi,x,j)+s; return r4(lo,m,x,j)^s;}
__device__ __noinline__ int r5(const int*z,int d,int x){ if(d>30) return 0; int v=z[d&31]+d; int s=v; if(v>x) s+=r5(z,2*d+1,x); if(v+3>x) s+=r5(z,2*d+2,x-1); return s;}
K(r_1, s=r1(lim&15,w);)
K(r_2, s=r2(lim&7,w);)
K(r_3, s=r3(lim&15,w*37);)
K(r_4, s=r4(0,lim*4,w*5,j);)
K(r_5, s=r5(z,lim&3,w);)
K(r_l, U1 for(;j<=(w&7);j++){LOG(1) s+=r1((lim+j)&7,w); LOG(2)})
// returns
K(e_1, if(lim==1){LOG(1) o[g]=1;return;} M4 if(lim==2){LOG(2) o[g]=2;return;} U1 for(;;j++){LOG(3) if(j>=lim)break; M if(j>=w){LOG(4) o[g]=s;return;}} LOG(5))
K(e_2, if(lim&1)return; LOG(1) U1 for(;j<=w;j++){LOG(2) M if((s&63)==5)return;})
K(e_3, U1 for(int i=0;i<(w&7)+1;i++){ U1 for(int q=0;q<((lim+i)&7)+1;q++){LOG(1) M if(++j>lim+4){LOG(2) o[g]=s;return;}} LOG(3)})
K(e_4, U1 for(;;j++){LOG(1) if((w>>(j&7))&1){M4 if(j>=lim){LOG(2) return;} M}else{LOG(3) M16 if(j>=w){o[g]=3;return;}} if(j>30)break;})
// warp synchronisation
#define F 0xffffffffu
K(w_sh, U1 for(int i=0;i<n;i++){ if((w>>(i&7))&1){LOG(1) M16}else{LOG(2) M4} s+=__shfl_xor_sync(F,s,1); LOG(3)})
K(w_shl, U1 for(int i=0;i<n;i++){ U1 for(int q=0;q<((lim+i)&7);q++){LOG(1) M} s+=__shfl_xor_sync(F,s,1); LOG(2)})
K(w_shz, U1 for(int i=0;i<VZ[i&31]+n;i++){ if((w>>(i&7))&1){M16} s+=__shfl_sync(F,s,(t+1)&31); LOG(3) s+=__shfl_down_sync(F,s,2);})
K(w_shz2, U1 for(int i=0;i<z[t]+n;i++){ s+=__shfl_sync(F,s,(t+1)&31); LOG(3) M})
K(w_sw, U1 for(int i=0;i<n;i++){ if((w>>(i&7))&1){LOG(1) M16}else{LOG(2) M4} __syncwarp(); LOG(3)})
K(w_swz, U1 for(int i=0;i<z[t]+n;i++){ if((w>>(i&7))&1){LOG(1) M16 z[64+t]=s;}else{LOG(2) M4} __syncwarp(); LOG(3)})
K(w_swin, U1 for(int i=0;i<n;i++){ if((w>>(i&7))&1){LOG(1) M16 __syncwarp(); M4}else{LOG(2) M4 __syncwarp(); M16} LOG(3)})
K(w_bal, U1 for(int i=0;i<z[t]+n;i++){ U1 for(int q=0;q<((lim+i)&7);q++){LOG(1) M} s+=__ballot_sync(F,s&1); LOG(2)})
K(w_any, U1 while(__any_sync(F,j<lim)){ if(j<lim){LOG(1) M4 j+=1+(w&1);} LOG(2)})
K(w_red, U1 for(int i=0;i<z[t]+n;i++){ if(s&1){LOG(1) M4} s+=__reduce_add_sync(F,s&7); LOG(2)})
K(w_part, u32 m=lim&1?0x55555555u:0xaaaaaaaau; m=__match_any_sync(F,lim&3); U1 for(int i=0;i<n;i++){ s+=__shfl_sync(m,s,__ffs(m)-1); LOG(1) if((w>>i)&1){M4} __syncwarp(m); LOG(2)})
K(w_tail, U1 for(int i=0;i<n;i++){ if((w>>(i&7))&1){LOG(1) M16 s+=__shfl_xor_sync(F,s,1);}else{LOG(2) M4 s+=__shfl_xor_sync(F,s,1);} LOG(3)})
K(w_bar, __shared__ int q[32]; U1 for(int i=0;i<n;i++){ U1 for(int r=0;r<((lim+i)&7);r++){LOG(1) M} q[t]=s; __syncthreads(); s+=q[(t+i)&31]; __syncthreads(); LOG(2)})
// algorithms
K(a_gcd, int x=lim*12,y=w*18; U1 while(y){LOG(1) int r=x%y;x=y;y=r;} s=x;)
K(a_col, u32 m=lim*9+w; U1 while(m!=1){LOG(1) if(m&1){m=3*m+1;LOG(2) M4}else m>>=1; if(++j>40)break;})
K(a_pri, int m=lim*7+w; int f=2; U1 while(f*f<=m){LOG(1) if(m%f==0){LOG(2) break;} f++;} s=f;)
K(a_qsel, int q[16]; for(int i=0;i<16;i++)q[i]=(i*lim*37+w*i*i+t)&63; int lo=0,hi=15,kk=w&15; U1 while(lo<hi){ int p=q[(lo+hi)/2],i=lo,r=hi; U1 while(i<=r){ U1 while(q[i]<p){i++;LOG(1)} U1 while(q[r]>p){r--;LOG(2)} if(i<=r){int x=q[i];q[i]=q[r];q[r]=x;i++;r--;} } if(kk<=r)hi=r; else if(kk>=i)lo=i; else break;} s=q[kk];)
K(a_edit, int q[17]; for(int i=0;i<=16;i++)q[i]=i; U1 for(int i=1;i<=(lim&7)+2;i++){int d=q[0];q[0]=i; U1 for(int r=1;r<=(w&7)+2;r++){int x=d+(((i*lim)&3)==((r*w)&3)?0:1);d=q[r]; if(q[r]+1<x)x=q[r]+1; if(q[r-1]+1<x)x=q[r-1]+1; q[r]=x;LOG(1)}} s=q[(w&7)+2];)
K(a_ins, int q[12]; for(int i=0;i<12;i++)q[i]=(i*lim*37+w*i*i+t)&63; U1 for(int i=1;i<12;i++){int x=q[i],r=i-1; U1 while(r>=0&&q[r]>x){q[r+1]=q[r];r--;LOG(1)} q[r+1]=x;} s=q[w%12];)
K(a_bs, int lo=0,hi=lim*8; U1 while(lo<hi){LOG(1) int m=(lo+hi)>>1; if(m==w*3){LOG(2) s=m;break;} if(m<w*3)lo=m+1; else hi=m;} s+=lo;)
K(a_kmp, int q=0; U1 for(int i=0;i<20;i++){int x=(i*lim+w)&3; U1 while(q>0&&x!=(q&3)){q=(q*5+1)%q;LOG(1)} if(x==(q&3))q++; if(q==6){LOG(2) s+=i;q=2;}})
K(a_man, float x=0,y=0,p=(lim-20)*0.06f,q=(w-20)*0.05f; U1 for(;j<n;j++){LOG(1) float u=x*x,v=y*y; if(u+v>4.f){LOG(2) break;} y=2*x*y+q; x=u-v+p; if(x==y)break;})
K(a_newt, float x=lim; U1 for(;j<40;j++){LOG(1) float y=0.5f*(x+w/x); if(fabsf(y-x)<1e-4f*y){LOG(2) break;} x=y;} s+=(int)x;)
K(a_str, U1 for(;;j++){ int x=(lim*j)&7,y=(w*j)&7; LOG(1) if(x!=y){s=x-y;LOG(2) break;} if(x==0&&j>lim){LOG(3) s=0;break;} if(j>30)break;})
K(a_hash, int p=(lim*7)&31; U1 for(;;){LOG(1) int v=z[p]; if(v==lim){s=p;break;} if(v==0||j++>w){LOG(2) s=-1;break;} p=(p+1)&31;})
K(a_irr, if(w&1)goto B; A: LOG(1) M4 j++; if(j>lim)goto D; B: LOG(2) M j+=2; if((s^j)&2)goto A; if(j<w)goto B; D:;)
