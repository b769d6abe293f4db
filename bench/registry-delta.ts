/** An import of changes only beside an import of the full file with as many changes. */
import { type datasetStore, versionStore } from '#modules/definitions/index.ts'

import { median } from './median.ts'
import { type Bench, type Comparison, formatInteger, importFile, measureTime, roundsFor } from './registry-bench.ts'
import type { ListFiles } from './registry-data.ts'

/** `head` has the content of the fourth file. Each round changes one entry of a thousand by a delta, and back by the full file. */
export async function measureDelta(
  bench: Bench,
  list: datasetStore.DatasetRow,
  files: ListFiles,
  head: number,
): Promise<Comparison> {
  const { database, databases, scope } = bench
  const { entries, changed } = files
  const delta_ms: number[] = []
  const full_ms: number[] = []
  const expectChanged = async (version: number): Promise<void> => {
    const made = await database.read(scope, (tx) => versionStore.findVersion(tx, list, version))
    if (made?.difference.changed !== changed || made.entry_count !== entries) {
      throw new Error(`version ${version} changes ${made?.difference.changed} of ${made?.entry_count} entries`)
    }
  }
  let version = head
  for (let round = 0; round < roundsFor(entries); round++) {
    await databases.runAsAdmin('checkpoint')
    delta_ms.push(await measureTime(() => importFile(bench, list, files.changes, version)))
    await expectChanged(++version)
    await databases.runAsAdmin('checkpoint')
    full_ms.push(await measureTime(() => importFile(bench, list, files.fourth)))
    await expectChanged(++version)
  }
  return {
    label: `import of ${formatInteger(changed)} changes only`,
    entries,
    ours: `${formatInteger(median(delta_ms))} ms`,
    baseline: `import of the full file ${formatInteger(median(full_ms))} ms`,
    ratio: median(full_ms.map((ms, n) => ms / (delta_ms[n] as number))),
  }
}
