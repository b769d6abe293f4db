/** XML of any layout: every element at a path becomes a record of its attributes, texts and child elements. */
import { closed, type Static, Type } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { readXml, type XmlElement } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import { noteEncoding, textOptions } from './source-text.ts'

const Options = closed({
  path: Type.String({
    pattern: '^[^/\\u0000]+(/[^/\\u0000]+)+$',
    maxLength: 500,
    description: 'Element names from the root to the records, such as list/company.',
  }),
  ...textOptions,
})

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const { path, ...text } = options
  let row = 0
  for await (const records of readXml(source, [path], { ...text, onEncoding: noteEncoding(out) })) {
    for (const { element, line } of records) {
      out.add(toRecord(element), { row: ++row, line, path })
      if (out.isFull) yield out.take()
    }
  }
  yield* out.takeRest()
}

/** Attributes as `@name`, own text as `#text`, children by name; a name that repeats gives an array. */
function toRecord({ attributes, children, text }: XmlElement): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(attributes)) record[`@${name}`] = value
  if (text !== '') record['#text'] = text
  for (const child of children) {
    const isText = child.children.length === 0 && Object.keys(child.attributes).length === 0
    const value = isText ? child.text : toRecord(child)
    const earlier = record[child.name]
    if (earlier === undefined) record[child.name] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else record[child.name] = [earlier, value]
  }
  return record
}

/** Only plugins use it: a mapping from elements to members has no options here. */
export const xmlRecords: Pick<Adapter, 'read' | 'options' | 'media_types' | 'file_extensions'> = {
  media_types: ['application/xml', 'text/xml', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'zip'],
  options: Options,
  read: (source, options) => read(source, options as Static<typeof Options>),
}
