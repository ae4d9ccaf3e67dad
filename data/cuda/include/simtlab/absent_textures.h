// Fetches and surfaces that the simulator does not have: the compiler says so where a program calls one.
#pragma once

#define SIMTLAB_ABSENT(name, what)                    \
  template <class T = void, class... Arguments>       \
  __device__ T name(Arguments...) __attribute__((unavailable("simtlab: " what)));
#define SIMTLAB_ABSENT_TEXTURE(name, what)                                                                              \
  SIMTLAB_ABSENT(name, what " textures are not simulated; tex1Dfetch, tex1D, tex2D and tex3D are")
#define SIMTLAB_ABSENT_SURFACE(name) SIMTLAB_ABSENT(name, "surfaces are not simulated; write to global memory instead")

SIMTLAB_ABSENT_TEXTURE(tex1DLayered, "layered")
SIMTLAB_ABSENT_TEXTURE(tex1DLayeredLod, "layered")
SIMTLAB_ABSENT_TEXTURE(tex1DLayeredGrad, "layered")
SIMTLAB_ABSENT_TEXTURE(tex2DLayered, "layered")
SIMTLAB_ABSENT_TEXTURE(tex2DLayeredLod, "layered")
SIMTLAB_ABSENT_TEXTURE(tex2DLayeredGrad, "layered")
SIMTLAB_ABSENT_TEXTURE(tex1DLod, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(tex1DGrad, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(tex2DLod, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(tex2DGrad, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(tex3DLod, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(tex3DGrad, "mipmapped")
SIMTLAB_ABSENT_TEXTURE(texCubemap, "cube")
SIMTLAB_ABSENT_TEXTURE(texCubemapLod, "cube")
SIMTLAB_ABSENT_TEXTURE(texCubemapLayered, "cube")
SIMTLAB_ABSENT_TEXTURE(texCubemapLayeredLod, "cube")
SIMTLAB_ABSENT_TEXTURE(tex2Dgather, "gathered")
SIMTLAB_ABSENT_SURFACE(surf1Dread)
SIMTLAB_ABSENT_SURFACE(surf1Dwrite)
SIMTLAB_ABSENT_SURFACE(surf2Dread)
SIMTLAB_ABSENT_SURFACE(surf2Dwrite)
SIMTLAB_ABSENT_SURFACE(surf3Dread)
SIMTLAB_ABSENT_SURFACE(surf3Dwrite)
SIMTLAB_ABSENT_SURFACE(surf1DLayeredread)
SIMTLAB_ABSENT_SURFACE(surf1DLayeredwrite)
SIMTLAB_ABSENT_SURFACE(surf2DLayeredread)
SIMTLAB_ABSENT_SURFACE(surf2DLayeredwrite)
SIMTLAB_ABSENT_SURFACE(surfCubemapread)
SIMTLAB_ABSENT_SURFACE(surfCubemapwrite)

#undef SIMTLAB_ABSENT
#undef SIMTLAB_ABSENT_TEXTURE
#undef SIMTLAB_ABSENT_SURFACE
