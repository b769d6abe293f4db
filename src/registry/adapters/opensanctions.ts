/**
 * Entities of OpenSanctions in the FollowTheMoney model, one JSON object per line in any order: parties, and their sanctions,
 * addresses, documents and links. All are buffered as compact text until the end of the file, where the parties are built. A file
 * beyond the limit is refused: a smaller part of the data must be selected.
 */
import { closed, listOf, oneOf, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, Source, SourceLocation } from '../adapter.ts'
import { quoteNames } from '../formats/archive-files.ts'
import { reject } from '../formats/fault.ts'
import { RecordFault } from '../formats/json-record.ts'
import { readNdjson } from '../formats/ndjson.ts'
import { BatchBuilder } from './batch-builder.ts'
import { addAddress, addDocument, addLink, addSanction, addWallet, createDraft, type FtmEntity } from './ftm-parties.ts'
import { attachments, links, named, partyKinds } from './ftm-schemas.ts'
import { addParty, HeldValues } from './parties.ts'
import type { PartyDraft } from './sanctioned-party.ts'
import { encodingOption, readPrescribed, textOptions } from './source-text.ts'

const Options = closed({
  parties: Type.Optional(
    oneOf(['targets', 'all'], {
      default: 'targets',
      description:
        'targets: parties marked as targets or, without a mark, with a topic. all: also those that are there only because a target is linked to them.',
    }),
  ),
  topics: Type.Optional(
    listOf(text(100), 100, {
      default: [],
      description:
        'Only parties with one of these topics, such as sanction or role.pep. Default: whatever their topics.',
    }),
  ),
  ...encodingOption('utf-8'),
  ...textOptions,
})
type Options = Static<typeof Options>

/** Its buffered form. */
interface LocatedEntity {
  readonly entity: FtmEntity
  readonly at: SourceLocation
}

class Graph {
  private readonly out: BatchBuilder
  private readonly options: Options
  private readonly held = new HeldValues()
  private readonly parties = new Map<string, { readonly held: number; readonly name: string }>()
  /** Names of other entities a link may refer to. */
  private readonly names = new Map<string, string>()
  private readonly addresses = new Map<string, number>()
  /** By their party. */
  private readonly attached = new Map<string, number[]>()
  private readonly unread = new Map<string, { count: number; at: SourceLocation }>()
  private readonly orphans = new Map<string, { count: number; at: SourceLocation }>()
  private left_out = 0

  constructor(out: BatchBuilder, options: Options) {
    this.out = out
    this.options = options
  }

  add(entity: FtmEntity, is_target: boolean, at: SourceLocation): void {
    const { id, schema, properties } = entity
    const name = entity.caption ?? [...(properties['name'] ?? [])].sort()[0] ?? id
    if (schema in partyKinds) this.addParty(entity, name, is_target, at)
    else if (schema === 'Address') this.addresses.set(id, this.hold(entity, at))
    else if (schema in attachments) this.attach(entity, properties[attachments[schema] as string] ?? [], at)
    else if (schema in links) {
      this.attach(
        entity,
        (links[schema] as readonly string[]).flatMap((end) => properties[end] ?? []),
        at,
      )
    } else if (named.has(schema)) this.names.set(id, name)
    else {
      count(this.unread, schema, at)
      this.names.set(id, name)
    }
  }

  private addParty(entity: FtmEntity, name: string, is_target: boolean, at: SourceLocation): void {
    const { id, properties } = entity
    if (this.parties.has(id) || this.names.has(id)) {
      this.out.reject(reject('value_ambiguous', `The id "${id}" is in the file twice.`, at, id, '/source_id'))
      return
    }
    const { parties = 'targets', topics = [] } = this.options
    const has_topic = topics.length === 0 || properties['topics']?.some((topic) => topics.includes(topic))
    if ((is_target || parties === 'all') && has_topic) {
      this.parties.set(id, { held: this.hold(entity, at), name })
    } else {
      this.left_out++
      this.names.set(id, name)
    }
    // A wallet is a party of its own and an identifier of its holder.
    if (entity.schema === 'CryptoWallet' && properties['holder']) this.attach(entity, properties['holder'], at)
  }

  private attach(entity: FtmEntity, owners: readonly string[], at: SourceLocation): void {
    if (owners.length === 0) count(this.orphans, entity.schema, at)
    const held = this.hold(entity, at)
    for (const owner of new Set(owners)) {
      const others = this.attached.get(owner)
      if (others) others.push(held)
      else this.attached.set(owner, [held])
    }
  }

  private hold(entity: FtmEntity, at: SourceLocation): number {
    return this.held.hold({ entity, at } satisfies LocatedEntity, at)
  }

  private getName(id: string): string | undefined {
    const name = this.parties.get(id)?.name ?? this.names.get(id)
    return name === undefined ? undefined : `${name} (${id})`
  }

  *batches(): Generator<Batch, void, undefined> {
    for (const [id, { held }] of this.parties) {
      const { entity, at } = this.held.get<LocatedEntity>(held)
      const draft = createDraft(entity)
      for (const address of entity.properties['addressEntity'] ?? []) {
        const found = this.addresses.get(address)
        if (found !== undefined) addAddress(this.held.get<LocatedEntity>(found).entity, draft)
        else count(this.orphans, 'Address', at)
      }
      for (const one of this.attached.get(id) ?? []) this.addAttached(id, this.held.get<LocatedEntity>(one), draft)
      addParty(this.out, draft, at)
      if (this.out.isFull) yield this.out.take()
    }
    this.report()
    yield* this.out.takeRest()
  }

  private addAttached(id: string, { entity, at }: LocatedEntity, draft: PartyDraft): void {
    const { schema, properties } = entity
    if (schema === 'Sanction') addSanction(entity, draft)
    else if (schema === 'CryptoWallet') addWallet(entity, draft)
    else if (schema in attachments) addDocument(entity, draft)
    else {
      const [from, to] = links[schema] as readonly [string, string]
      for (const [own, other] of [
        [from, to],
        [to, from],
      ] as const) {
        if (!properties[own]?.includes(id)) continue
        for (const one of properties[other] ?? []) {
          const name = this.getName(one)
          if (name === undefined) count(this.orphans, schema, at)
          addLink(entity, own, name ?? one, draft)
        }
      }
    }
  }

  private report(): void {
    for (const [owner, attached] of this.attached) {
      if (this.getName(owner) !== undefined) continue
      for (const one of attached) {
        const { entity, at } = this.held.get<LocatedEntity>(one)
        const { schema, properties } = entity
        // The link is counted at its other end, which is a party.
        const ends = (links[schema] ?? []).flatMap((end) => properties[end] ?? [])
        if (!ends.some((end) => this.parties.has(end))) count(this.orphans, schema, at)
      }
    }
    for (const [schema, { count: orphans, at }] of this.orphans) {
      const message = `${orphans} references of or to ${schema} lead to no entity in the file.`
      this.out.warnIncomplete('rows_orphaned', message, orphans, at)
    }
    if (this.left_out > 0) {
      const message = `${this.left_out} parties are left out by the options parties and topics.`
      this.out.warn('parties_left_out', message)
    }
    const [first] = this.unread.values()
    if (first) {
      const schemata = [...this.unread].map(([schema, { count: found }]) => `${schema} (${found})`)
      this.out.warn('members_unread', `Entities of these schemata are not read: ${quoteNames(schemata)}.`, first.at)
    }
  }
}

function count(counts: Map<string, { count: number; at: SourceLocation }>, what: string, at: SourceLocation): void {
  const known = counts.get(what)
  if (known) known.count++
  else counts.set(what, { count: 1, at })
}

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const graph = new Graph(out, options)
  let row = 0
  for await (const lines of readNdjson(readPrescribed(source, options, out))) {
    for (const { line, text: found, value } of lines) {
      const at = { row: ++row, line }
      if (value instanceof RecordFault) {
        out.reject(reject(value.code, value.messageAt(line), at, found))
        continue
      }
      const entity = toEntity(value)
      if (typeof entity === 'string') out.reject(reject('value_unreadable', entity, at, found))
      else graph.add(entity, isTarget(entity, value), at)
    }
    if (out.isFull) yield out.take()
  }
  yield* graph.batches()
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one.trim() !== '') : []

/** Without the member `target`, a party with a topic is a target. */
function isTarget({ properties }: FtmEntity, value: unknown): boolean {
  const mark = isObject(value) ? value['target'] : undefined
  return typeof mark === 'boolean' ? mark : (properties['topics'] ?? []).length > 0
}

/** The entity, or why the line is invalid. */
function toEntity(value: unknown): FtmEntity | string {
  if (!isObject(value)) return 'The line is not an entity: an object with id, schema and properties.'
  const { id, schema, properties, caption, last_change } = value
  if (typeof id !== 'string' || id === '' || typeof schema !== 'string' || !isObject(properties)) {
    return 'The line is not an entity: id, schema or properties are missing.'
  }
  const texts: Record<string, string[]> = {}
  for (const [property, given] of Object.entries(properties)) {
    if (!Array.isArray(given)) return `"${property}" is not a list of values.`
    if (given.some((one) => typeof one === 'object')) {
      return `"${property}" holds nested entities: take entities.ftm.json, in which each has its own line.`
    }
    texts[property] = given.map(String).filter((one) => one.trim() !== '')
  }
  return {
    id,
    schema,
    properties: texts,
    caption: typeof caption === 'string' && caption.trim() !== '' ? caption : undefined,
    datasets: toTexts(value['datasets']),
    referents: toTexts(value['referents']),
    last_change: typeof last_change === 'string' ? last_change : undefined,
  }
}

export const openSanctionsFtm: Adapter = {
  key: 'opensanctions-ftm',
  version: 1,
  title: 'OpenSanctions (FollowTheMoney NDJSON)',
  description:
    "entities.ftm.json of OpenSanctions, whose data needs a licence for commercial use. Written from the publisher's documented layout and not yet tried on a published file. Links between parties, and properties the type has no member for, are in the remarks.",
  publisher: 'OpenSanctions',
  media_types: ['application/x-ndjson', 'application/jsonl', 'application/json', 'application/gzip', 'application/zip'],
  file_extensions: ['json', 'ndjson', 'jsonl', 'json.gz', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `${JSON.stringify({ id: 'ex-1', caption: 'Alex Sample', schema: 'Person', properties: { name: ['Alex Sample'], alias: ['A. Sample'], topics: ['sanction'], birthDate: ['1970-01-02'] }, referents: [], datasets: ['example'], target: true })}
${JSON.stringify({ id: 'ex-2', caption: 'ORDER-1', schema: 'Sanction', properties: { entity: ['ex-1'], program: ['ORDER-1'], startDate: ['2020-02-03'] }, referents: [], datasets: ['example'], target: false })}
`,
  },
  read: (source, options) => read(source, options as Options),
}
