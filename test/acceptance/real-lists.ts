/**
 * All pairs of publishers' files in ../shared/data through a real worker process: both versions imported, and the difference
 * compared key by key. Prints one line of JSON; says how many pairs were left out and why.
 */
import fs from 'node:fs'
import path from 'node:path'
import { readProject } from '#app/project.ts'
import { compareVersions, isImportable, readExpectedDiffs } from '../support/real-lists.ts'
import { parseNumbers, reportResult, startApi } from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const folder = path.resolve(readProject().root, '../shared/data')
if (!fs.existsSync(path.join(folder, 'expected-diffs.json'))) {
  reportResult('real-lists', { pairs: 0, skipped: `${folder} is not here`, passed: true })
  process.exit(0)
}

const { pairs: wanted } = parseNumbers({ pairs: 1000 })
const started_ms = performance.now()
const api = await startApi()
const workers = new WorkerProcesses(api.database, 2)
try {
  await workers.start()
  const pairs = readExpectedDiffs(folder)
  const faults: string[] = []
  const importable = pairs.filter(isImportable).slice(0, wanted)
  for (const pair of importable) {
    const found = await compareVersions(
      {
        ask: api.call,
        upload: (file_name, bytes) => api.upload(file_name, [bytes]),
        imported: async (order) => {
          const job = await api.call<{ job_id: string; resource: string }>('POST /reference-data/imports', order)
          await api.ended(job.job_id)
          return api.call(`GET ${job.resource.replace('/api', '')}`)
        },
      },
      folder,
      pair,
    )
    console.error(`${pair.list} ${path.basename(pair.new)}: ${found.length === 0 ? 'as expected' : found.join('; ')}`)
    faults.push(...found)
  }
  reportResult('real-lists', {
    pairs: importable.length,
    without_adapter: pairs.filter((pair) => !isImportable(pair)).map(({ list }) => list),
    faults,
    duration_s: Math.round((performance.now() - started_ms) / 1000),
    passed: faults.length === 0,
  })
} finally {
  await workers.stop()
  await api.close()
}
