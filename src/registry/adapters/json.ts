/** JSON documents and JSON lines, with an optional mapping of members: the adapters `json` and `ndjson`. */
import { closed, listOf, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, EntryContext, Source, SourceLocation } from '../adapter.ts'
import { isObject } from '../content/json-pointer.ts'
import { reject } from '../formats/fault.ts'
import { readJsonItems } from '../formats/json.ts'
import { RecordFault } from '../formats/json-record.ts'
import { readNdjson } from '../formats/ndjson.ts'
import { BatchBuilder } from './batch-builder.ts'
import { mapMembers } from './mapping.ts'
import { findMappingFaults } from './mapping-check.ts'
import { MemberMapping, mappingOptions, memberElements } from './mapping-options.ts'
import { MappedRecords } from './row-groups.ts'
import { encodingOption, readPrescribed, textOptions } from './source-text.ts'

const Name = (description: string) => text(100, { pattern: '^(?!__proto__$)[^\\u0000]*$', description })

const shared = {
  members: Type.Optional(
    listOf(MemberMapping, 1000, { minItems: 1, description: 'Default: every record as it is, with all its members.' }),
  ),
  scalar_member: Type.Optional(Name('Records are plain values; each becomes an object with this one member.')),
  elements: memberElements,
  ...mappingOptions,
  ...encodingOption('utf-8'),
  ...textOptions,
}

const LinesOptions = closed(shared)
const DocumentOptions = closed({
  pointer: Type.Optional(
    Type.String({
      pattern: '^(/([^~/]|~0|~1)*)*$',
      maxLength: 500,
      default: '',
      description:
        'JSON pointer of the array that holds the records, such as /data/items; empty for the document itself.',
    }),
  ),
  key_member: Type.Optional(
    Name('The records are the members of an object, not of an array; the name of each goes into this member.'),
  ),
  ...shared,
})

type Shared = Static<typeof LinesOptions>

/** Maps parsed values to entries. */
class Records {
  private readonly out: BatchBuilder
  private readonly wrap: string | undefined
  private readonly records: MappedRecords<Entry>

  constructor(options: Shared, out: BatchBuilder, context: EntryContext | undefined) {
    this.out = out
    this.wrap = options.scalar_member
    this.records = new MappedRecords(mapMembers(options.members, options), options, out, context)
  }

  get isHolding(): boolean {
    return this.records.isHolding
  }

  add(value: unknown, source: string, at: SourceLocation): void {
    if (value instanceof RecordFault) {
      this.out.reject(reject(value.code, value.messageAt(at.line ?? 1), at, source))
    } else if (isObject(value)) this.records.add(value, at)
    else if (this.wrap !== undefined && !Array.isArray(value) && value !== null) {
      this.records.add({ [this.wrap]: value }, at)
    } else this.out.reject(reject('not_an_object', 'The record is not an object with members.', at, source))
  }

  finish(): Generator<Batch, void, undefined> {
    return this.records.finish()
  }
}

async function* readDocument(
  source: Source,
  options: Static<typeof DocumentOptions>,
  context: EntryContext | undefined,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const records = new Records(options, out, context)
  const { pointer = '', key_member } = options
  let row = 0
  for await (const items of readJsonItems(readPrescribed(source, options, out), pointer)) {
    for (const { name, line, text: found, value } of items) {
      const at = { row: ++row, line, path: `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}` }
      records.add(typeof name === 'string' ? addName(value, name, key_member) : value, found, at)
      if (out.isFull) yield out.take()
    }
    if (records.isHolding) yield out.take()
  }
  yield* records.finish()
}

/** Adds the name of a record that is a member of an object, in the member the options name. */
function addName(value: unknown, name: string, key_member: string | undefined): unknown {
  if (value instanceof RecordFault) return value
  if (key_member === undefined) {
    const advice = 'Name the member their keys go into (key_member), or point to an array.'
    return new RecordFault('value_unreadable', `The records are members of an object, not of an array. ${advice}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (Object.hasOwn(value, key_member)) {
    return new RecordFault('name_duplicate', `The record already has a member "${key_member}".`)
  }
  return { [key_member]: name, ...value }
}

async function* readLines(
  source: Source,
  options: Shared,
  context: EntryContext | undefined,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const records = new Records(options, out, context)
  let row = 0
  for await (const lines of readNdjson(readPrescribed(source, options, out))) {
    for (const { line, text: found, value } of lines) {
      const at = { row: ++row, line }
      records.add(value, found, at)
      if (out.isFull) yield out.take()
    }
    if (records.isHolding) yield out.take()
  }
  yield* records.finish()
}

export const json: Adapter = {
  key: 'json',
  version: 2,
  title: 'JSON',
  description: 'A JSON document with an array of records, anywhere in it. Read as a stream, however large.',
  publisher: null,
  media_types: ['application/json', 'application/gzip', 'application/zip'],
  file_extensions: ['json', 'json.gz', 'zip'],
  options: DocumentOptions,
  checkOptions: findMappingFaults,
  target_type: null,
  sample: { encoding: 'utf8', text: '[{ "code": "NA", "name": "Namibia" }, { "code": "NO", "name": "Norway" }]\n' },
  read: (source, options, _, context) => readDocument(source, options as Static<typeof DocumentOptions>, context),
}

export const ndjson: Adapter = {
  key: 'ndjson',
  version: 2,
  title: 'NDJSON',
  description: 'One JSON object on each line.',
  publisher: null,
  media_types: ['application/x-ndjson', 'application/jsonl', 'application/gzip', 'application/zip'],
  file_extensions: ['ndjson', 'jsonl', 'ndjson.gz', 'zip'],
  options: LinesOptions,
  checkOptions: findMappingFaults,
  target_type: null,
  sample: { encoding: 'utf8', text: '{"code":"NA","name":"Namibia"}\n{"code":"NO","name":"Norway"}\n' },
  read: (source, options, _, context) => readLines(source, options as Shared, context),
}
