// SPDX-License-Identifier: MIT
#include "position/tile_scheme.h"

#include "position/positions.h"

namespace poslab {

Status TileScheme::Bind(const BindArguments& arguments, Hooks* hooks) const {
  POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments, axes()));
  BindArguments known = arguments;
  known.dimensions = Completed(arguments.dimensions, arguments.parameters);
  std::unique_ptr<LearnedTile> tile = MakeTile(known.dimensions);
  POSLAB_RETURN_IF_ERROR(tile->tensors.Bind(*this, known));
  POSLAB_RETURN_IF_ERROR(tile->Prepare(known));
  hooks->tile = std::move(tile);
  return Status::Ok();
}

Status TileScheme::Pull(const BindArguments&, const Hooks& hooks, const HookGradients&,
                        ParameterGradients gradients) const {
  auto& tile = static_cast<LearnedTile&>(*hooks.tile);
  tile.Finish();
  tile.tensors.Pull(gradients);
  return Status::Ok();
}

}  // namespace poslab
