/**
 * The job that exports several lists at an instant as an archive: one file each and a manifest, byte-identical for equal
 * versions.
 */
import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import yazl from 'yazl'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { resolver, typeStore } from '#modules/definitions/index.ts'
import { completeBytes, writeBytes } from '#modules/system/index.ts'
import { countLines, type ExportFormat, writeEntries } from '#registry/export.ts'

import { findExport, listAllKeys, updateExport } from './queries.ts'
import { readLinesInForce } from './read-lines.ts'

const MTIME = new Date(1980, 0, 1)

interface ExportParameters {
  readonly list_keys?: readonly string[]
  readonly format: ExportFormat
  readonly formula_guard: boolean
  readonly valid_at?: string
  readonly known_at?: string
}

export const datasetExportJob = defineJob({
  kind: 'dataset-export',
  summary: 'Writes several lists, as of an instant, into one archive with a manifest.',
  payload: closed({ export_id: Id() }),
  resumes: 'restart',
  uses: ['caches'],
  run: async ({ payload, read, write, step, finish, kernel }) => {
    const { parameters, pointers } = await read(async (tx) => {
      const row = await findExport(tx, payload.export_id)
      if (!row) throw new Problem('not_found')
      const given = row.parameters as unknown as ExportParameters
      const keys = given.list_keys ?? (await listAllKeys(tx)).map(({ list_key }) => list_key)
      const clocks = { valid_at: given.valid_at ?? null, known_at: given.known_at ?? null }
      const found = (await resolver.listPointers(tx, keys, clocks)).filter(
        ({ via }) => via !== null,
      ) as resolver.VersionPointer[]
      return { parameters: given, pointers: found.sort((a, b) => (a.list_key < b.list_key ? -1 : 1)) }
    })
    if (pointers.length === 0) throw new Problem('nothing_in_force', 'None of the lists had a version in force then.')

    const zip = new yazl.ZipFile()
    const options = { mtime: MTIME, forceDosTimestamp: true, mode: 0o100644 }
    const lists: Record<string, unknown>[] = []
    const output = new PassThrough()
    zip.outputStream.pipe(output)
    const written = writeBytes(write, output as AsyncIterable<Buffer>, `lists-${payload.export_id}.zip`)
    for (const [index, pointer] of pointers.entries()) {
      const type = (await read((tx) =>
        typeStore.findTypeVersion(tx, pointer.type_tenant_id, pointer.type_key, pointer.type_version),
      )) as typeStore.TypeRow
      const file = `${pointer.list_key}.${parameters.format}`
      const hash = createHash('sha256')
      let entry_count = 0
      const texts = async function* () {
        for await (const lines of readLinesInForce(kernel, read, pointer)) {
          entry_count += countLines(lines)
          yield lines
        }
      }
      const source = async function* () {
        for await (const piece of writeEntries(texts(), type.definition, parameters.format, parameters.formula_guard)) {
          hash.update(piece)
          yield piece
        }
      }
      await new Promise<void>((resolve, reject) => {
        const stream = Readable.from(source())
        stream.once('end', resolve).once('error', reject)
        zip.addReadStream(stream, file, options)
      })
      lists.push({
        list_key: pointer.list_key,
        via: pointer.via,
        version: pointer.version,
        content_hash: pointer.content_hash,
        overlay_version: pointer.overlay_version,
        entry_count,
        file,
        sha256: hash.digest('hex'),
      })
      await step(async () => ({ progress: { done: index + 1, total: pointers.length, unit: 'lists' } }))
    }
    const stated = {
      valid_at: parameters.valid_at ?? (pointers[0] as resolver.VersionPointer).now,
      known_at: parameters.known_at ?? null,
      format: parameters.format,
      lists,
    }
    zip.addBuffer(Buffer.from(`${canonicalJson(JSON.parse(JSON.stringify(stated)))}\n`), 'manifest.json', options)
    zip.end()
    const bytes = await written
    await finish(async (tx) => {
      await completeBytes(tx, bytes)
      const { size_bytes, sha256, upload_id } = bytes
      await updateExport(tx, payload.export_id, { ...stated, size_bytes, sha256 }, upload_id)
      return { lists: lists.length, size_bytes, sha256 }
    })
    return null
  },
})
