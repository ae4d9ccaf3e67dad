#pragma once
#error "simtlab does not simulate surfaces: write to global memory instead"
