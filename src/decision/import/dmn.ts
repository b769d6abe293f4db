/**
 * Decision tables of DMN 1.1 to 1.5 files as rules. Only what the engine says exactly is taken over: tables of simple unary
 * tests with literal outputs. Literal expressions, functions, contexts, invocations and knowledge models are named and left out.
 */
import { SourceFault } from '../../registry/adapter.ts'
import { attributeOf, childOf, childrenOf, readXml, textOf, type XmlElement } from '../../registry/formats/xml.ts'
import type { Collect, HitPolicy, Value } from '../model.ts'
import { type Cell, exactNumber, type LiteralKind, readOutput, readTests, readValues } from './cell.ts'
import { DmnTypes } from './dmn-types.ts'
import {
  excerpt,
  type Imported,
  type ImportedRule,
  ImportFindings,
  MAX_FILE_CHARS,
  MAX_TABLES,
  NotTakenOver,
} from './imported.ts'
import { type ForeignColumn, type ForeignTable, ruleOf } from './rule-table.ts'
import { constructOf } from './tokens.ts'

/** Children of `definitions` that carry decisions, and those that carry logic nothing here can run. */
const READ = ['itemDefinition', 'inputData', 'decision'] as const
const REFUSED = {
  businessKnowledgeModel: 'a business knowledge model',
  decisionService: 'a decision service',
  import: 'an import of another model',
} as const

interface Located {
  readonly element: XmlElement
  readonly place: string
}

export async function importDmn(xml: string): Promise<Imported> {
  const findings = new ImportFindings()
  const definitions: ImportedRule[] = []
  try {
    const parts = await readParts(xml, findings)
    const types = new DmnTypes(parts.itemDefinition, parts.inputData)
    for (const decision of parts.decision) {
      const rule = importDecision(decision, types, findings)
      if (rule) definitions.push(rule)
    }
    if (parts.decision.length === 0) findings.refuse('no_decision', '/definitions', 'The file holds no decision.')
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    findings.refuse(error.code, error.at?.line === undefined ? '' : `line ${error.at.line}`, error.message)
    return { definitions: [], findings: findings.all() }
  }
  return { definitions, findings: findings.all() }
}

type Parts = Record<(typeof READ)[number], Located[]>

async function readParts(xml: string, findings: ImportFindings): Promise<Parts> {
  if (xml.length > MAX_FILE_CHARS) {
    throw new SourceFault(
      'source_too_large',
      `A file may have ${MAX_FILE_CHARS} characters; this one has ${xml.length}.`,
    )
  }
  const parts: Parts = { itemDefinition: [], inputData: [], decision: [] }
  const ids = new Set<string>()
  const names = [...READ, ...Object.keys(REFUSED)]
  const paths = names.map((name) => `definitions/${name}`)
  for await (const records of readXml(bytesOf(xml), paths)) {
    for (const { element, line } of records) {
      const name = attributeOf(element, 'name') ?? attributeOf(element, 'id') ?? ''
      const place = `/definitions/${element.name} "${excerpt(name)}" (line ${line})`
      refuseDuplicateIds(element, ids, place)
      const what = REFUSED[element.name as keyof typeof REFUSED]
      if (what) findings.refuse('construct_refused', place, `This is ${what}; only decision tables are taken over.`)
      else parts[element.name as keyof Parts].push({ element, place })
    }
    if (parts.decision.length > MAX_TABLES) {
      throw new SourceFault('source_too_large', `A file may hold ${MAX_TABLES} decisions.`)
    }
  }
  return parts
}

async function* bytesOf(xml: string): AsyncGenerator<Uint8Array, void, undefined> {
  // The text has been decoded already, whatever its declaration says of bytes.
  yield Buffer.from(xml.replace(/^\uFEFF?<\?xml[^>]*\?>/, (found) => found.replace(/\S/g, ' ')))
}

/** Two things of one id cannot be told apart, so nothing that refers to either can be trusted. */
function refuseDuplicateIds(element: XmlElement, ids: Set<string>, place: string): void {
  const id = attributeOf(element, 'id')
  if (id !== undefined && ids.has(id)) {
    throw new SourceFault('id_duplicate', `The id ${excerpt(id)} stands twice, again at ${place}.`)
  }
  if (id !== undefined) ids.add(id)
  for (const child of element.children) refuseDuplicateIds(child, ids, place)
}

function importDecision({ element, place }: Located, types: DmnTypes, findings: ImportFindings): ImportedRule | null {
  const name = attributeOf(element, 'name') ?? attributeOf(element, 'id') ?? 'decision'
  try {
    const table = childOf(element, 'decisionTable')
    if (!table) throw notATable(element, place)
    for (const requirement of childrenOf(element, 'informationRequirement')) {
      if (!childOf(requirement, 'requiredDecision')) continue
      const message = 'It reads the result of another decision, which becomes an input of this rule.'
      findings.warn('reads_decision', place, message)
    }
    return ruleOf(foreignTable(name, table, element, place, types), findings)
  } catch (error) {
    if (!(error instanceof NotTakenOver)) throw error
    findings.refuse(error.code, error.place, `${excerpt(name)} was left out: ${error.message}`)
    return null
  }
}

const EXPRESSIONS = [
  'literalExpression',
  'invocation',
  'context',
  'functionDefinition',
  'relation',
  'list',
  'conditional',
  'for',
  'every',
  'some',
  'filter',
]

function notATable(decision: XmlElement, place: string): NotTakenOver {
  const found = decision.children.find(({ name }) => EXPRESSIONS.includes(name))
  if (!found) return new NotTakenOver('no_logic', place, 'the decision has no decision table.')
  const text = textOf(found, 'text')
  const detail = text === undefined ? '' : `: ${excerpt(text)} uses ${constructOf(text, 'feel')}`
  return new NotTakenOver('construct_refused', `${place}/${found.name}`, `it is a ${found.name}${detail}.`)
}

const HIT_POLICIES = new Map<string, HitPolicy>([
  ['UNIQUE', 'unique'],
  ['ANY', 'any'],
  ['FIRST', 'first'],
  ['PRIORITY', 'priority'],
  ['COLLECT', 'collect'],
  ['RULE ORDER', 'collect'],
  ['OUTPUT ORDER', 'collect'],
])
const COLLECTS = new Map<string, Collect>([
  ['SUM', 'sum'],
  ['MIN', 'min'],
  ['MAX', 'max'],
  ['COUNT', 'count'],
])

function foreignTable(
  name: string,
  table: XmlElement,
  decision: XmlElement,
  place: string,
  types: DmnTypes,
): ForeignTable {
  const policy = attributeOf(table, 'hitPolicy') ?? 'UNIQUE'
  const hit_policy = HIT_POLICIES.get(policy)
  if (!hit_policy) throw new NotTakenOver('construct_refused', place, `the hit policy ${excerpt(policy)} is unknown.`)
  const aggregation = attributeOf(table, 'aggregation')
  const collect = aggregation === undefined ? undefined : COLLECTS.get(aggregation)
  if (aggregation !== undefined && (!collect || hit_policy !== 'collect')) {
    throw new NotTakenOver('construct_refused', place, `the aggregation ${excerpt(aggregation)} has no place there.`)
  }
  const outputs = childrenOf(table, 'output')
  const rows = childrenOf(table, 'rule').map((rule, i) => readRow(rule, `${place}/decisionTable/rule[${i + 1}]`, table))
  const priorities = ['PRIORITY', 'OUTPUT ORDER'].includes(policy)
    ? prioritiesOf(outputs, decision, place, types)
    : undefined
  return {
    name,
    place,
    hit_policy,
    collect,
    ...(hit_policy === 'priority' && { priorities }),
    columns: childrenOf(table, 'input').map((input, i) =>
      columnOf(input, `${place}/decisionTable/input[${i + 1}]`, types),
    ),
    outputs: outputs.map((output) => attributeOf(output, 'name') ?? (outputs.length === 1 ? name : '')),
    rows: policy === 'OUTPUT ORDER' ? inOutputOrder(rows, priorities as readonly Value[]) : rows,
    otherwise: defaultsOf(outputs, place),
  }
}

type Row = ForeignTable['rows'][number]

function readRow(rule: XmlElement, place: string, table: XmlElement): Row {
  const tests = childrenOf(rule, 'inputEntry')
  const outputs = childrenOf(rule, 'outputEntry')
  if (tests.length !== childrenOf(table, 'input').length || outputs.length !== childrenOf(table, 'output').length) {
    throw new NotTakenOver('cells_missing', place, 'the row has not one cell for each column.')
  }
  const cells: Cell[] = tests.map((entry, i) =>
    readTests(textOf(entry, 'text') ?? '', 'feel', `${place}/inputEntry[${i + 1}]`),
  )
  const then = outputs.map((entry, i) =>
    readOutput(textOf(entry, 'text') ?? '', 'feel', `${place}/outputEntry[${i + 1}]`),
  )
  const [annotation] = childrenOf(rule, 'annotationEntry')
  return { place, cells, then, reason: (annotation && textOf(annotation, 'text')) ?? textOf(rule, 'description') }
}

function columnOf(input: XmlElement, place: string, types: DmnTypes): ForeignColumn {
  const expression = childOf(input, 'inputExpression')
  const title = (expression && textOf(expression, 'text')) ?? attributeOf(input, 'label') ?? ''
  if (!isPlainName(title)) {
    const message = `${excerpt(title) || 'an empty input'} uses ${constructOf(title, 'feel')}; a column reads one input by its name.`
    throw new NotTakenOver('construct_refused', place, message)
  }
  const type = types.of((expression && attributeOf(expression, 'typeRef')) ?? types.typeOfInput(title), place)
  const allowed = childOf(input, 'inputValues')
  return { title, place, ...type, ...(allowed && types.limited(textOf(allowed, 'text') ?? '', type.kind, place)) }
}

/** A name, which in FEEL may have blanks in it, or a path of names. */
const isPlainName = (text: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_ '/.-]*$/u.test(text) && !/[-/'] | [-/']|\.\./.test(text) && !FEEL_WORDS.test(text)
const FEEL_WORDS = /(?:^| )(?:and|or|in|between|instance|if|for|some|every|function)(?: |$)/

/** Most important first. Ours are of the first output alone, so a table that ranks by a second one too is refused. */
function prioritiesOf(outputs: readonly XmlElement[], decision: XmlElement, place: string, types: DmnTypes): Value[] {
  const ranked = outputs.map((output) => childOf(output, 'outputValues'))
  if (ranked.slice(1).some(Boolean)) {
    throw new NotTakenOver('construct_refused', place, 'it ranks by more than one output; rules rank by the first.')
  }
  const variable = childOf(decision, 'variable')
  const declared = ranked[0]
    ? textOf(ranked[0], 'text')
    : types.allowedText(variable && attributeOf(variable, 'typeRef'))
  const values = declared === undefined ? null : readValues(declared, 'feel')
  if (!values)
    throw new NotTakenOver('priorities_missing', place, 'its outputs are not listed in the order of importance.')
  return values.map(({ kind, text }) => priorityValue(kind, text, place))
}

function priorityValue(kind: LiteralKind, text: string, place: string): Value {
  if (kind === 'number') return exactNumber(text, place)
  return kind === 'boolean' ? text === 'true' : text
}

/** All rows that fire are given in row order: sorting the rows once gives exactly the order of their outputs. */
function inOutputOrder(rows: readonly Row[], priorities: readonly Value[]): Row[] {
  const rank = (row: Row): number => {
    const found = priorities.indexOf(row.then[0] as Value)
    return found === -1 ? priorities.length : found
  }
  return [...rows].sort((a, b) => rank(a) - rank(b))
}

function defaultsOf(outputs: readonly XmlElement[], place: string): Value[] | undefined {
  const defaults = outputs.map((output) => childOf(output, 'defaultOutputEntry'))
  if (!defaults.some(Boolean)) return undefined
  return defaults.map((entry, i) => {
    const at = `${place}/decisionTable/output[${i + 1}]/defaultOutputEntry`
    if (!entry) throw new NotTakenOver('output_empty', at, 'some outputs have a default and this one has none.')
    return readOutput(textOf(entry, 'text') ?? '', 'feel', at)
  })
}
