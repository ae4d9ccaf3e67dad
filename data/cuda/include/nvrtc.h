#pragma once
#error "simtlab has no NVRTC: compile the source with simtlab build"
