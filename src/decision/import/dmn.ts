/**
 * Imports decision tables of DMN 1.1 to 1.5 as rules. Only tables of simple unary tests with literal outputs are imported, since the
 * engine has exact equivalents. Literal expressions, functions, contexts, invocations and knowledge models are reported and left out.
 */
import { SourceFault } from '#registry/adapter.ts'
import { getAttribute, getChild, getChildren, getChildText, readXml, type XmlElement } from '#registry/formats/xml.ts'
import type { CollectOperator, HitPolicy, PolicyValue } from '../model.ts'
import { type ImportedCell, type LiteralKind, parseExactNumber, parseOutput, parseTests, parseValues } from './cell.ts'
import { DmnTypes } from './dmn-types.ts'
import {
  excerpt,
  type ImportedRule,
  ImportFindings,
  type ImportResult,
  MAX_FILE_CHARS,
  MAX_TABLES,
  UnsupportedConstruct,
} from './import-result.ts'
import { type ForeignColumn, type ForeignTable, toImportedRule } from './rule-table.ts'
import { describeConstruct } from './tokenizer.ts'

/** Children of `definitions` with decisions, and those with unsupported logic. */
const READ_ELEMENTS = ['itemDefinition', 'inputData', 'decision'] as const
const REFUSED_ELEMENTS = {
  businessKnowledgeModel: 'a business knowledge model',
  decisionService: 'a decision service',
  import: 'an import of another model',
} as const

interface Located {
  readonly element: XmlElement
  readonly place: string
}

export async function importDmn(xml: string): Promise<ImportResult> {
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

type Parts = Record<(typeof READ_ELEMENTS)[number], Located[]>

async function readParts(xml: string, findings: ImportFindings): Promise<Parts> {
  if (xml.length > MAX_FILE_CHARS) {
    throw new SourceFault(
      'source_too_large',
      `A file may have ${MAX_FILE_CHARS} characters; this one has ${xml.length}.`,
    )
  }
  const parts: Parts = { itemDefinition: [], inputData: [], decision: [] }
  const ids = new Set<string>()
  const names = [...READ_ELEMENTS, ...Object.keys(REFUSED_ELEMENTS)]
  const paths = names.map((name) => `definitions/${name}`)
  for await (const records of readXml(encodeXml(xml), paths)) {
    for (const { element, line } of records) {
      const name = getAttribute(element, 'name') ?? getAttribute(element, 'id') ?? ''
      const place = `/definitions/${element.name} "${excerpt(name)}" (line ${line})`
      refuseDuplicateIds(element, ids, place)
      const what = REFUSED_ELEMENTS[element.name as keyof typeof REFUSED_ELEMENTS]
      if (what) findings.refuse('construct_refused', place, `This is ${what}; only decision tables are taken over.`)
      else parts[element.name as keyof Parts].push({ element, place })
    }
    if (parts.decision.length > MAX_TABLES) {
      throw new SourceFault('source_too_large', `A file may hold ${MAX_TABLES} decisions.`)
    }
  }
  return parts
}

async function* encodeXml(xml: string): AsyncGenerator<Uint8Array, void, undefined> {
  // The text is already decoded, so its declared encoding is ignored.
  yield Buffer.from(xml.replace(/^\uFEFF?<\?xml[^>]*\?>/, (found) => found.replace(/\S/g, ' ')))
}

/** Duplicate ids make references ambiguous, so the file is refused. */
function refuseDuplicateIds(element: XmlElement, ids: Set<string>, place: string): void {
  const id = getAttribute(element, 'id')
  if (id !== undefined && ids.has(id)) {
    throw new SourceFault('id_duplicate', `The id ${excerpt(id)} is repeated at ${place}.`)
  }
  if (id !== undefined) ids.add(id)
  for (const child of element.children) refuseDuplicateIds(child, ids, place)
}

function importDecision({ element, place }: Located, types: DmnTypes, findings: ImportFindings): ImportedRule | null {
  const name = getAttribute(element, 'name') ?? getAttribute(element, 'id') ?? 'decision'
  try {
    const table = getChild(element, 'decisionTable')
    if (!table) throw noTableError(element, place)
    for (const requirement of getChildren(element, 'informationRequirement')) {
      if (!getChild(requirement, 'requiredDecision')) continue
      const message = 'It reads the result of another decision, which becomes an input of this rule.'
      findings.warn('reads_decision', place, message)
    }
    return toImportedRule(toForeignTable(table, { name, element, place }, types), findings)
  } catch (error) {
    if (!(error instanceof UnsupportedConstruct)) throw error
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

function noTableError(decision: XmlElement, place: string): UnsupportedConstruct {
  const found = decision.children.find(({ name }) => EXPRESSIONS.includes(name))
  if (!found) return new UnsupportedConstruct('no_logic', place, 'the decision has no decision table.')
  const text = getChildText(found, 'text')
  const detail = text === undefined ? '' : `: ${excerpt(text)} uses ${describeConstruct(text, 'feel')}`
  return new UnsupportedConstruct('construct_refused', `${place}/${found.name}`, `it is a ${found.name}${detail}.`)
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
const COLLECTS = new Map<string, CollectOperator>([
  ['SUM', 'sum'],
  ['MIN', 'min'],
  ['MAX', 'max'],
  ['COUNT', 'count'],
])

function toForeignTable(
  table: XmlElement,
  { name, element, place }: Located & { readonly name: string },
  types: DmnTypes,
): ForeignTable {
  const policy = getAttribute(table, 'hitPolicy') ?? 'UNIQUE'
  const hit_policy = HIT_POLICIES.get(policy)
  if (!hit_policy)
    throw new UnsupportedConstruct('construct_refused', place, `the hit policy ${excerpt(policy)} is unknown.`)
  const aggregation = getAttribute(table, 'aggregation')
  const collect = aggregation === undefined ? undefined : COLLECTS.get(aggregation)
  if (aggregation !== undefined && (!collect || hit_policy !== 'collect')) {
    throw new UnsupportedConstruct(
      'construct_refused',
      place,
      `the aggregation ${excerpt(aggregation)} has no place there.`,
    )
  }
  const outputs = getChildren(table, 'output')
  const rows = getChildren(table, 'rule').map((rule, i) =>
    readRow(rule, `${place}/decisionTable/rule[${i + 1}]`, table),
  )
  const priorities = ['PRIORITY', 'OUTPUT ORDER'].includes(policy)
    ? readPriorities(outputs, element, place, types)
    : undefined
  return {
    name,
    place,
    hit_policy,
    collect,
    ...(hit_policy === 'priority' && { priorities }),
    columns: getChildren(table, 'input').map((input, i) =>
      readColumn(input, `${place}/decisionTable/input[${i + 1}]`, types),
    ),
    outputs: outputs.map((output) => getAttribute(output, 'name') ?? (outputs.length === 1 ? name : '')),
    rows: policy === 'OUTPUT ORDER' ? sortByOutputOrder(rows, priorities as readonly PolicyValue[]) : rows,
    otherwise: readDefaults(outputs, place),
  }
}

type Row = ForeignTable['rows'][number]

function readRow(rule: XmlElement, place: string, table: XmlElement): Row {
  const tests = getChildren(rule, 'inputEntry')
  const outputs = getChildren(rule, 'outputEntry')
  if (tests.length !== getChildren(table, 'input').length || outputs.length !== getChildren(table, 'output').length) {
    throw new UnsupportedConstruct('cells_missing', place, 'the row has not one cell for each column.')
  }
  const cells: ImportedCell[] = tests.map((entry, i) =>
    parseTests(getChildText(entry, 'text') ?? '', 'feel', `${place}/inputEntry[${i + 1}]`),
  )
  const then = outputs.map((entry, i) =>
    parseOutput(getChildText(entry, 'text') ?? '', 'feel', `${place}/outputEntry[${i + 1}]`),
  )
  const [annotation] = getChildren(rule, 'annotationEntry')
  return {
    place,
    cells,
    then,
    reason: (annotation && getChildText(annotation, 'text')) ?? getChildText(rule, 'description'),
  }
}

function readColumn(input: XmlElement, place: string, types: DmnTypes): ForeignColumn {
  const expression = getChild(input, 'inputExpression')
  const title = (expression && getChildText(expression, 'text')) ?? getAttribute(input, 'label') ?? ''
  if (!isPlainName(title)) {
    const message = `${excerpt(title) || 'an empty input'} uses ${describeConstruct(title, 'feel')}; a column reads one input by its name.`
    throw new UnsupportedConstruct('construct_refused', place, message)
  }
  const type = types.resolve((expression && getAttribute(expression, 'typeRef')) ?? types.getInputType(title), place)
  const allowed = getChild(input, 'inputValues')
  return { title, place, ...type, ...(allowed && types.limited(getChildText(allowed, 'text') ?? '', type.kind, place)) }
}

/** A FEEL name, which may contain spaces, or a path of names. */
const isPlainName = (text: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_ '/.-]*$/u.test(text) && !/[-/'] | [-/']|\.\./.test(text) && !FEEL_WORDS.test(text)
const FEEL_WORDS = /(?:^| )(?:and|or|in|between|instance|if|for|some|every|function)(?: |$)/

/** Highest priority first. The engine ranks by the first output only, so a table that ranks by a second one is refused. */
function readPriorities(
  outputs: readonly XmlElement[],
  decision: XmlElement,
  place: string,
  types: DmnTypes,
): PolicyValue[] {
  const ranked = outputs.map((output) => getChild(output, 'outputValues'))
  if (ranked.slice(1).some(Boolean)) {
    throw new UnsupportedConstruct(
      'construct_refused',
      place,
      'it ranks by more than one output; rules rank by the first.',
    )
  }
  const variable = getChild(decision, 'variable')
  const declared = ranked[0]
    ? getChildText(ranked[0], 'text')
    : types.getAllowedText(variable && getAttribute(variable, 'typeRef'))
  const values = declared === undefined ? null : parseValues(declared, 'feel')
  if (!values)
    throw new UnsupportedConstruct(
      'priorities_missing',
      place,
      'its outputs are not listed in the order of importance.',
    )
  return values.map(({ kind, text }) => priorityValue(kind, text, place))
}

function priorityValue(kind: LiteralKind, text: string, place: string): PolicyValue {
  if (kind === 'number') return parseExactNumber(text, place)
  return kind === 'boolean' ? text === 'true' : text
}

/** Rows that fire are returned in row order, so sorting the rows once gives the order of outputs. */
function sortByOutputOrder(rows: readonly Row[], priorities: readonly PolicyValue[]): Row[] {
  const rank = (row: Row): number => {
    const found = priorities.indexOf(row.then[0] as PolicyValue)
    return found === -1 ? priorities.length : found
  }
  return [...rows].sort((a, b) => rank(a) - rank(b))
}

function readDefaults(outputs: readonly XmlElement[], place: string): PolicyValue[] | undefined {
  const defaults = outputs.map((output) => getChild(output, 'defaultOutputEntry'))
  if (!defaults.some(Boolean)) return undefined
  return defaults.map((entry, i) => {
    const at = `${place}/decisionTable/output[${i + 1}]/defaultOutputEntry`
    if (!entry) throw new UnsupportedConstruct('output_empty', at, 'some outputs have a default and this one has none.')
    return parseOutput(getChildText(entry, 'text') ?? '', 'feel', at)
  })
}
