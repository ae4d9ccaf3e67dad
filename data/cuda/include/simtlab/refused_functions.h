// Functions of the runtime API that simtlab's library refuses when they are called: it says their name and the program ends
// with exit code 4. They take any arguments, so that programs compile; the types that such calls need are here too.
#pragma once

#include "../driver_types.h"

typedef struct cudaUserObject_st* cudaUserObject_t;
typedef struct CUexternalMemory_st* cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st* cudaExternalSemaphore_t;
typedef struct CUlib_st* cudaLibrary_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef enum cudaLaunchAttributeID cudaStreamAttrID;
typedef union cudaLaunchAttributeValue cudaStreamAttrValue;
typedef enum cudaLaunchAttributeID cudaKernelNodeAttrID;
typedef union cudaLaunchAttributeValue cudaKernelNodeAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaKernelNodeAttributeCooperative cudaLaunchAttributeCooperative

enum cudaGraphInstantiateFlags {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
  cudaGraphInstantiateFlagUpload = 2,
  cudaGraphInstantiateFlagDeviceLaunch = 4,
  cudaGraphInstantiateFlagUseNodePriority = 8,
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
  cudaGraphExecUpdateErrorNodeTypeChanged = 3,
  cudaGraphExecUpdateErrorFunctionChanged = 4,
  cudaGraphExecUpdateErrorParametersChanged = 5,
  cudaGraphExecUpdateErrorNotSupported = 6,
};
typedef struct cudaGraphExecUpdateResultInfo_st {
  enum cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode;
  cudaGraphNode_t errorFromNode;
} cudaGraphExecUpdateResultInfo;
enum cudaStreamUpdateCaptureDependenciesFlags {
  cudaStreamAddCaptureDependencies = 0,
  cudaStreamSetCaptureDependencies = 1,
};
struct cudaLaunchParams {
  void* func;
  dim3 gridDim;
  dim3 blockDim;
  void** args;
  size_t sharedMem;
  cudaStream_t stream;
};

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8,
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
  struct cudaMemLocation location;
  enum cudaMemAccessFlags flags;
};
enum cudaMemAllocationType {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1,
};
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
struct cudaMemAllocNodeParams {
  struct cudaMemPoolProps poolProps;
  const struct cudaMemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr;
};
enum cudaMemRangeAttribute {
  cudaMemRangeAttributeReadMostly = 1,
  cudaMemRangeAttributePreferredLocation = 2,
  cudaMemRangeAttributeAccessedBy = 3,
  cudaMemRangeAttributeLastPrefetchLocation = 4,
};
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4,
};
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2,
};
#define cudaEnableDefault 0
#define cudaIpcMemLazyEnablePeerAccess 0x01
typedef struct cudaIpcEventHandle_st {
  char reserved[64];
} cudaIpcEventHandle_t;
typedef struct cudaIpcMemHandle_st {
  char reserved[64];
} cudaIpcMemHandle_t;

#ifdef __cplusplus
#define SIMTLAB_REFUSED(name) cudaError_t name(...);
extern "C" {
#else
#define SIMTLAB_REFUSED(name) cudaError_t name();
#endif

// Graphs and stream capture.
SIMTLAB_REFUSED(cudaDeviceGetGraphMemAttribute)
SIMTLAB_REFUSED(cudaDeviceGraphMemTrim)
SIMTLAB_REFUSED(cudaDeviceSetGraphMemAttribute)
SIMTLAB_REFUSED(cudaGraphAddChildGraphNode)
SIMTLAB_REFUSED(cudaGraphAddEventRecordNode)
SIMTLAB_REFUSED(cudaGraphAddEventWaitNode)
SIMTLAB_REFUSED(cudaGraphAddExternalSemaphoresSignalNode)
SIMTLAB_REFUSED(cudaGraphAddExternalSemaphoresWaitNode)
SIMTLAB_REFUSED(cudaGraphAddMemAllocNode)
SIMTLAB_REFUSED(cudaGraphAddMemFreeNode)
SIMTLAB_REFUSED(cudaGraphAddMemcpyNodeFromSymbol)
SIMTLAB_REFUSED(cudaGraphAddMemcpyNodeToSymbol)
SIMTLAB_REFUSED(cudaGraphAddNode)
SIMTLAB_REFUSED(cudaGraphChildGraphNodeGetGraph)
SIMTLAB_REFUSED(cudaGraphClone)
SIMTLAB_REFUSED(cudaGraphConditionalHandleCreate)
SIMTLAB_REFUSED(cudaGraphDebugDotPrint)
SIMTLAB_REFUSED(cudaGraphDestroyNode)
SIMTLAB_REFUSED(cudaGraphEventRecordNodeGetEvent)
SIMTLAB_REFUSED(cudaGraphEventRecordNodeSetEvent)
SIMTLAB_REFUSED(cudaGraphEventWaitNodeGetEvent)
SIMTLAB_REFUSED(cudaGraphEventWaitNodeSetEvent)
SIMTLAB_REFUSED(cudaGraphExecChildGraphNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecEventRecordNodeSetEvent)
SIMTLAB_REFUSED(cudaGraphExecEventWaitNodeSetEvent)
SIMTLAB_REFUSED(cudaGraphExecExternalSemaphoresSignalNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecExternalSemaphoresWaitNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecGetFlags)
SIMTLAB_REFUSED(cudaGraphExecHostNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecMemcpyNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecMemcpyNodeSetParams1D)
SIMTLAB_REFUSED(cudaGraphExecMemcpyNodeSetParamsFromSymbol)
SIMTLAB_REFUSED(cudaGraphExecMemcpyNodeSetParamsToSymbol)
SIMTLAB_REFUSED(cudaGraphExecMemsetNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExecUpdate)
SIMTLAB_REFUSED(cudaGraphExternalSemaphoresSignalNodeGetParams)
SIMTLAB_REFUSED(cudaGraphExternalSemaphoresSignalNodeSetParams)
SIMTLAB_REFUSED(cudaGraphExternalSemaphoresWaitNodeGetParams)
SIMTLAB_REFUSED(cudaGraphExternalSemaphoresWaitNodeSetParams)
SIMTLAB_REFUSED(cudaGraphGetEdges)
SIMTLAB_REFUSED(cudaGraphGetRootNodes)
SIMTLAB_REFUSED(cudaGraphHostNodeGetParams)
SIMTLAB_REFUSED(cudaGraphHostNodeSetParams)
SIMTLAB_REFUSED(cudaGraphInstantiateWithParams)
SIMTLAB_REFUSED(cudaGraphKernelNodeCopyAttributes)
SIMTLAB_REFUSED(cudaGraphKernelNodeGetAttribute)
SIMTLAB_REFUSED(cudaGraphKernelNodeGetParams)
SIMTLAB_REFUSED(cudaGraphKernelNodeSetAttribute)
SIMTLAB_REFUSED(cudaGraphKernelNodeSetParams)
SIMTLAB_REFUSED(cudaGraphMemAllocNodeGetParams)
SIMTLAB_REFUSED(cudaGraphMemFreeNodeGetParams)
SIMTLAB_REFUSED(cudaGraphMemcpyNodeGetParams)
SIMTLAB_REFUSED(cudaGraphMemcpyNodeSetParams)
SIMTLAB_REFUSED(cudaGraphMemcpyNodeSetParams1D)
SIMTLAB_REFUSED(cudaGraphMemcpyNodeSetParamsFromSymbol)
SIMTLAB_REFUSED(cudaGraphMemcpyNodeSetParamsToSymbol)
SIMTLAB_REFUSED(cudaGraphMemsetNodeGetParams)
SIMTLAB_REFUSED(cudaGraphMemsetNodeSetParams)
SIMTLAB_REFUSED(cudaGraphNodeFindInClone)
SIMTLAB_REFUSED(cudaGraphNodeGetDependencies)
SIMTLAB_REFUSED(cudaGraphNodeGetDependentNodes)
SIMTLAB_REFUSED(cudaGraphNodeGetEnabled)
SIMTLAB_REFUSED(cudaGraphNodeSetEnabled)
SIMTLAB_REFUSED(cudaGraphNodeSetParams)
SIMTLAB_REFUSED(cudaGraphReleaseUserObject)
SIMTLAB_REFUSED(cudaGraphRemoveDependencies)
SIMTLAB_REFUSED(cudaGraphRetainUserObject)
SIMTLAB_REFUSED(cudaStreamBeginCaptureToGraph)
SIMTLAB_REFUSED(cudaStreamUpdateCaptureDependencies)
SIMTLAB_REFUSED(cudaUserObjectCreate)
SIMTLAB_REFUSED(cudaUserObjectRelease)
SIMTLAB_REFUSED(cudaUserObjectRetain)

// Memory pools and ranges.
SIMTLAB_REFUSED(cudaDeviceGetDefaultMemPool)
SIMTLAB_REFUSED(cudaDeviceGetMemPool)
SIMTLAB_REFUSED(cudaDeviceSetMemPool)
SIMTLAB_REFUSED(cudaMallocFromPoolAsync)
SIMTLAB_REFUSED(cudaMemPoolCreate)
SIMTLAB_REFUSED(cudaMemPoolDestroy)
SIMTLAB_REFUSED(cudaMemPoolExportPointer)
SIMTLAB_REFUSED(cudaMemPoolExportToShareableHandle)
SIMTLAB_REFUSED(cudaMemPoolGetAccess)
SIMTLAB_REFUSED(cudaMemPoolGetAttribute)
SIMTLAB_REFUSED(cudaMemPoolImportFromShareableHandle)
SIMTLAB_REFUSED(cudaMemPoolImportPointer)
SIMTLAB_REFUSED(cudaMemPoolSetAccess)
SIMTLAB_REFUSED(cudaMemPoolSetAttribute)
SIMTLAB_REFUSED(cudaMemPoolTrimTo)
SIMTLAB_REFUSED(cudaMemRangeGetAttribute)
SIMTLAB_REFUSED(cudaMemRangeGetAttributes)

// Surfaces, mipmaps and other properties of arrays.
SIMTLAB_REFUSED(cudaArrayGetMemoryRequirements)
SIMTLAB_REFUSED(cudaArrayGetPlane)
SIMTLAB_REFUSED(cudaArrayGetSparseProperties)
SIMTLAB_REFUSED(cudaBindSurfaceToArray)
SIMTLAB_REFUSED(cudaBindTextureToMipmappedArray)
SIMTLAB_REFUSED(cudaCreateSurfaceObject)
SIMTLAB_REFUSED(cudaDestroySurfaceObject)
SIMTLAB_REFUSED(cudaDeviceGetTexture1DLinearMaxWidth)
SIMTLAB_REFUSED(cudaExternalMemoryGetMappedMipmappedArray)
SIMTLAB_REFUSED(cudaFreeMipmappedArray)
SIMTLAB_REFUSED(cudaGetMipmappedArrayLevel)
SIMTLAB_REFUSED(cudaGetSurfaceObjectResourceDesc)
SIMTLAB_REFUSED(cudaGetSurfaceReference)
SIMTLAB_REFUSED(cudaGetTextureObjectResourceViewDesc)
SIMTLAB_REFUSED(cudaGraphicsResourceGetMappedMipmappedArray)
SIMTLAB_REFUSED(cudaMallocMipmappedArray)
SIMTLAB_REFUSED(cudaMipmappedArrayGetMemoryRequirements)
SIMTLAB_REFUSED(cudaMipmappedArrayGetSparseProperties)

// Memory and events of other processes and interfaces.
SIMTLAB_REFUSED(cudaDestroyExternalMemory)
SIMTLAB_REFUSED(cudaDestroyExternalSemaphore)
SIMTLAB_REFUSED(cudaExternalMemoryGetMappedBuffer)
SIMTLAB_REFUSED(cudaGraphicsMapResources)
SIMTLAB_REFUSED(cudaGraphicsResourceGetMappedEglFrame)
SIMTLAB_REFUSED(cudaGraphicsResourceGetMappedPointer)
SIMTLAB_REFUSED(cudaGraphicsResourceSetMapFlags)
SIMTLAB_REFUSED(cudaGraphicsSubResourceGetMappedArray)
SIMTLAB_REFUSED(cudaGraphicsUnmapResources)
SIMTLAB_REFUSED(cudaGraphicsUnregisterResource)
SIMTLAB_REFUSED(cudaImportExternalMemory)
SIMTLAB_REFUSED(cudaImportExternalSemaphore)
SIMTLAB_REFUSED(cudaIpcCloseMemHandle)
SIMTLAB_REFUSED(cudaIpcGetEventHandle)
SIMTLAB_REFUSED(cudaIpcGetMemHandle)
SIMTLAB_REFUSED(cudaIpcOpenEventHandle)
SIMTLAB_REFUSED(cudaIpcOpenMemHandle)
SIMTLAB_REFUSED(cudaSignalExternalSemaphoresAsync)
SIMTLAB_REFUSED(cudaWaitExternalSemaphoresAsync)

// Kernels from libraries loaded at run time.
SIMTLAB_REFUSED(cudaGetDriverEntryPoint)
SIMTLAB_REFUSED(cudaGetFuncBySymbol)
SIMTLAB_REFUSED(cudaKernelSetAttributeForDevice)
SIMTLAB_REFUSED(cudaLaunchCooperativeKernelMultiDevice)
SIMTLAB_REFUSED(cudaLibraryEnumerateKernels)
SIMTLAB_REFUSED(cudaLibraryGetGlobal)
SIMTLAB_REFUSED(cudaLibraryGetKernel)
SIMTLAB_REFUSED(cudaLibraryGetKernelCount)
SIMTLAB_REFUSED(cudaLibraryGetManaged)
SIMTLAB_REFUSED(cudaLibraryGetUnifiedFunction)
SIMTLAB_REFUSED(cudaLibraryLoadData)
SIMTLAB_REFUSED(cudaLibraryLoadFromFile)
SIMTLAB_REFUSED(cudaLibraryUnload)

// The rest.
SIMTLAB_REFUSED(cudaCtxResetPersistingL2Cache)
SIMTLAB_REFUSED(cudaDeviceFlushGPUDirectRDMAWrites)
SIMTLAB_REFUSED(cudaDeviceGetP2PAttribute)
SIMTLAB_REFUSED(cudaDeviceRegisterAsyncNotification)
SIMTLAB_REFUSED(cudaDeviceUnregisterAsyncNotification)
SIMTLAB_REFUSED(cudaMemcpy2DArrayToArray)
SIMTLAB_REFUSED(cudaMemcpy3DPeer)
SIMTLAB_REFUSED(cudaMemcpy3DPeerAsync)
SIMTLAB_REFUSED(cudaMemcpyArrayToArray)
SIMTLAB_REFUSED(cudaSetDoubleForDevice)
SIMTLAB_REFUSED(cudaSetDoubleForHost)
SIMTLAB_REFUSED(cudaStreamCopyAttributes)
SIMTLAB_REFUSED(cudaStreamGetAttribute)
SIMTLAB_REFUSED(cudaStreamSetAttribute)

#ifdef __cplusplus
}
#endif
#undef SIMTLAB_REFUSED
