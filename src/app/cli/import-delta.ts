/** Options of `reference-data import` for a file that contains changes only. */
import fs from 'node:fs'
import type { DeltaRequest } from '#modules/reference-data/index.ts'
import { isPointer } from '#registry/content/json-pointer.ts'
import { type Arguments, parseInteger, UsageError } from './command.ts'

export const DELTA_OPTIONS = {
  'delta-base': { type: 'string', value: 'N', about: 'the file holds changes to this version only, the newest one' },
  'removed-marker': {
    type: 'string',
    value: 'POINTER=VALUE',
    about: 'with --delta-base: rows whose member has this value (several: a,b) remove an entry',
  },
  'removed-keys': { type: 'string', value: 'FILE', about: 'with --delta-base: keys of entries to remove, a line each' },
} as const

/** Null: the file is the whole list. */
export function readDelta(args: Arguments): DeltaRequest | null {
  const base = args.text('delta-base')
  const [marker, keys_file] = [args.text('removed-marker'), args.text('removed-keys')]
  if (base === undefined) {
    if ((marker ?? keys_file) === undefined) return null
    throw new UsageError('--removed-marker and --removed-keys go with --delta-base.')
  }
  return {
    base_version: parseInteger('delta-base', base, 1, 999_999_999),
    removed: { marker: marker === undefined ? null : readMarker(marker), keys: readKeys(keys_file) },
  }
}

function readMarker(text: string): DeltaRequest['removed']['marker'] {
  const [, pointer = '', values = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (!pointer.startsWith('/') || !isPointer(pointer) || values === '') {
    throw new UsageError('--removed-marker is a JSON pointer and a value, for example /action=D.')
  }
  return { pointer, values: values.split(',') }
}

function readKeys(file: string | undefined): string[] {
  if (file === undefined) return []
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${file}.`)
  const lines = fs.readFileSync(file, 'utf8').split(/\r?\n/)
  return [...new Set(lines.filter((line) => line !== ''))]
}
