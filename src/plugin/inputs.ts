/** What an entry point may be called with. The first argument is checked before the code sees it. */
import type { EntryPoint } from '#sandbox/model.ts'
import type { PluginManifest } from './manifest.ts'
import { findValueFaults, type ValueFault, type ValueSchema } from './value-schema.ts'

const chunkSchema: ValueSchema = {
  type: 'object',
  required: ['rows'],
  properties: { rows: { type: 'array', items: { type: 'object' } }, first_row: { type: 'integer' } },
}

const responseSchema: ValueSchema = {
  type: 'object',
  required: ['status', 'body'],
  properties: { status: { type: 'integer' }, headers: { type: 'object' } },
}

/** Where the first argument does not fit: the schema of the manifest, or what the service itself passes. */
export function findInputFaults(manifest: PluginManifest, entry_point: EntryPoint, input: unknown): ValueFault[] {
  if (entry_point === 'adapter') return findValueFaults(chunkSchema, input)
  if (entry_point === 'parse') return findValueFaults(responseSchema, input)
  return findValueFaults('inputs' in manifest ? manifest.inputs : {}, input)
}
