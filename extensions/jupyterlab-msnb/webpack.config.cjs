// webpack numbers the entry of the extension by a hash of its absolute path; a bundle that is compared with a committed
// one has to be the same in every folder.
class SameEntryEverywhere {
  apply(compiler) {
    compiler.hooks.compilation.tap("SameEntryEverywhere", (compilation) => {
      compilation.hooks.beforeModuleIds.tap("SameEntryEverywhere", (modules) => {
        for (const module of modules)
          if (module.identifier().startsWith("container entry")) compilation.chunkGraph.setModuleId(module, "entry");
      });
    });
  }
}

module.exports = { plugins: [new SameEntryEverywhere()] };
