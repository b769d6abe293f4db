/** What an entry point may be called with. The first argument is checked before the code sees it. */
import type { EntryPoint, SuppliedEntries } from '#sandbox/model.ts'
import { getListUses, type ListUse, type PluginManifest } from './manifest.ts'
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

/** The entries as the plugin may see them: only lists that it declares, and of those with `fields` these members only. */
export const restrictEntries = (manifest: PluginManifest, entries: SuppliedEntries = {}): SuppliedEntries =>
  Object.fromEntries(getListUses(manifest).map((use) => [use.list_key, restrictList(use, entries[use.list_key] ?? {})]))

function restrictList({ fields }: ListUse, entries: SuppliedEntries[string]): SuppliedEntries[string] {
  if (fields.length === 0) return entries
  return Object.fromEntries(
    Object.entries(entries).map(([key, entry]) => [
      key,
      entry && Object.fromEntries(Object.entries(entry).filter(([name]) => fields.includes(name))),
    ]),
  )
}

export const describeFault = ({ pointer, message }: ValueFault): string => `${pointer || 'it'} ${message}`

/** Faults of an input as the errors of a problem. */
export const toInputErrors = (faults: readonly ValueFault[]) =>
  faults.map(({ pointer, message }) => ({
    in: 'body' as const,
    pointer: `#/input${pointer}`,
    detail: message,
    keyword: 'inputs',
  }))

/** Where the first argument does not fit: the schema of the manifest, or what the service itself passes. */
export function findInputFaults(manifest: PluginManifest, entry_point: EntryPoint, input: unknown): ValueFault[] {
  if (entry_point === 'adapter') return findValueFaults(chunkSchema, input)
  if (entry_point === 'parse') return findValueFaults(responseSchema, input)
  return findValueFaults('inputs' in manifest ? manifest.inputs : {}, input)
}
