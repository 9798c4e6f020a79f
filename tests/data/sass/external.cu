extern "C" __global__ void prints(int*a){ if(a[threadIdx.x]<0) printf("negative %d\n",a[threadIdx.x]); a[threadIdx.x]+=1; }
extern "C" __global__ void plain(int*a){ a[threadIdx.x]+=1; }
extern "C" __global__ void allocs(int**a){ a[0]=(int*)malloc(64); }
