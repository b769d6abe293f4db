/**
 * What one would use instead of the registry's difference: two libraries on the same two documents, held in memory and keyed
 * as a list by its business key. Runs in a folder of its own, where the libraries are installed; prints one JSON result.
 */
import fs from 'node:fs'
import readline from 'node:readline'
import { diff as jsondiffpatch } from 'jsondiffpatch'
import microdiff from 'microdiff'

const [first, second, key, rounds] = process.argv.slice(2)

async function read(file) {
  const document = {}
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
    const entry = JSON.parse(line)
    document[entry[key]] = entry
  }
  return document
}

const [before, after] = [await read(first), await read(second)]
const measure = (compare) => {
  const times_ms = []
  let changed = 0
  for (let round = 0; round < Number(rounds); round++) {
    const from_ms = performance.now()
    changed = compare()
    times_ms.push(performance.now() - from_ms)
  }
  return { times_ms, changed }
}
const result = {
  jsondiffpatch: measure(() => Object.keys(jsondiffpatch(before, after) ?? {}).length),
  microdiff: measure(() => new Set(microdiff(before, after, { cyclesFix: false }).map(({ path }) => path[0])).size),
}
process.stdout.write(JSON.stringify(result))
