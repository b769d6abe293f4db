/**
 * Starts the longest test files first, so that no worker is left alone with one at the end. A fresh copy of the project has no
 * figures of earlier runs, and the size of a file says little.
 */
import fs from 'node:fs'
import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By CPU time. Files in a browser keep two processes busy: others stand between them, so that few of them run at once. */
const slowestFiles: readonly string[] = [
  'test/browser/decisions.test.ts',
  'test/isolation/endpoints.test.ts',
  'test/examples.test.ts',
  'test/browser/accessibility.test.ts',
  'test/isolation/plans.test.ts',
  'test/isolation/canary.test.ts',
  'test/browser/console.test.ts',
  'test/isolation/mutation.test.ts',
  'test/hostile/side-channels.test.ts',
  'test/browser/api-docs.test.ts',
  'src/modules/reference-data/deltas.test.ts',
  'test/faults/database-faults.test.ts',
  'test/browser/registry.test.ts',
  'src/modules/reference-data/imports.test.ts',
  'test/demo-data.test.ts',
  'test/boot.test.ts',
  'src/app/backup/backup.test.ts',
  'src/app/embedded/roles.test.ts',
  'src/registry/types/type-runner.test.ts',
  'test/upgrade-from-landed.test.ts',
  'test/registry/properties.test.ts',
  'test/hostile/generated.test.ts',
  'src/app/backup/refusals.test.ts',
  'test/operator.test.ts',
  'test/isolation/pool.test.ts',
  'test/hostile/corpora.test.ts',
  'test/registry/real-lists.test.ts',
  'src/registry/adapters/shared-data.test.ts',
  'src/app/embedded/launcher.test.ts',
  'test/shared-lists.test.ts',
]

export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = slowestFiles.indexOf(path.relative(this.ctx.config.root, moduleId).replaceAll(path.sep, '/'))
      return found === -1 ? slowestFiles.length : found
    }
    for (const file of slowestFiles) {
      if (!fs.existsSync(path.join(this.ctx.config.root, file))) throw new Error(`${file} is no test file any more`)
    }
    const others = await super.sort(files)
    return others.sort((a, b) => place(a) - place(b))
  }
}
