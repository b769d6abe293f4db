/**
 * Imports GoRules JSON graphs as rules: decision tables, expressions that compare and choose, and switches, each as a rule with links
 * to the rules that provide its inputs. Functions, arithmetic and called decisions have no equivalent and are reported node by node.
 */
import { parseStrictJson } from '#kernel/strict-json.ts'
import { isObject } from '#registry/content/json-pointer.ts'
import type { HitPolicy, PolicyValue } from '../model.ts'
import { ANY_CELL, parseOutput, parseTests } from './cell.ts'
import { BRANCH, Graph, type Json, linkRules, readId, readText } from './gorules-graph.ts'
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
import {
  type Conjunction,
  mergeConjunctions,
  parseCellCondition,
  parseCondition,
  parseDecisionList,
  toConjunction,
} from './zen-expressions.ts'

const READ_NODES = new Set(['decisionTableNode', 'expressionNode', 'switchNode'])
const REFUSED_NODES = new Map([
  ['functionNode', 'a function node'],
  ['decisionNode', 'a node that calls another decision'],
  ['customNode', 'a custom node'],
])
const NO_LOGIC = new Set(['inputNode', 'outputNode'])
const HIT_POLICIES = new Map<string, HitPolicy>([
  ['first', 'first'],
  ['collect', 'collect'],
])

const MAX_EDGES = 5000

export function importGoRules(json: string): ImportResult {
  const findings = new ImportFindings()
  const rules: NodeRule[] = []
  const { nodes, edges } = readGraph(json, findings)
  const graph = new Graph(nodes, edges)
  const ids = new Set<string>()
  for (const [n, node] of nodes.entries()) {
    const place = `/nodes/${n}`
    const type = readText(node, 'type')
    const id = readText(node, 'id')
    if (id !== '' && ids.has(id)) {
      findings.refuse('id_duplicate', `${place}/id`, `The id ${excerpt(id)} is repeated; the node was left out.`)
      continue
    }
    ids.add(id)
    if (NO_LOGIC.has(type)) continue
    if (READ_NODES.has(type)) rules.push(...importNode(node, place, graph, findings))
    else {
      const what = REFUSED_NODES.get(type) ?? `a node of type ${excerpt(type) || 'nothing'}`
      const message = `${excerpt(readText(node, 'name'))} was left out: it is ${what}, which no rule can stand for.`
      findings.refuse('construct_refused', place, message)
    }
  }
  return { definitions: linkRules(rules, graph, findings), findings: findings.all() }
}

function readGraph(json: string, findings: ImportFindings): { nodes: Json[]; edges: Json[] } {
  const nothing = { nodes: [], edges: [] }
  if (json.length > MAX_FILE_CHARS) {
    findings.refuse(
      'source_too_large',
      '',
      `A file may have ${MAX_FILE_CHARS} characters; this one has ${json.length}.`,
    )
    return nothing
  }
  const graph = parseJson(json, findings)
  const nodes = isObject(graph) ? graph['nodes'] : undefined
  if (graph === undefined) return nothing
  if (!Array.isArray(nodes) || !nodes.every(isObject)) {
    findings.refuse('layout_unknown', '/nodes', 'The file has no list of nodes: this is not a GoRules graph.')
    return nothing
  }
  if (nodes.length > MAX_TABLES) {
    findings.refuse('source_too_large', '/nodes', `A file may hold ${MAX_TABLES} nodes; this one has ${nodes.length}.`)
    return nothing
  }
  const edges = (graph as Json)['edges']
  return { nodes, edges: Array.isArray(edges) ? edges.filter(isObject).slice(0, MAX_EDGES) : [] }
}

function parseJson(json: string, findings: ImportFindings): unknown {
  try {
    return parseStrictJson(Buffer.from(json))
  } catch (error) {
    const detail = getProblemDetail(error)
    if (detail === undefined) throw error
    findings.refuse('not_well_formed', '', detail.replaceAll('The body', 'The file'))
    return undefined
  }
}

/** The detail of the problem that the JSON reader throws. */
function getProblemDetail(error: unknown): string | undefined {
  const { extra } = error as { readonly extra?: { readonly detail?: string } }
  return extra?.detail
}

/** A table, or the rules of an expression node or a switch. */
export interface NodeRule {
  readonly node: string
  readonly rule: ImportedRule
  /** Its output, as later nodes name it. */
  readonly outputs: readonly string[]
  /** Its inputs by the fields they read; `$.field` is one of the same node. */
  readonly fields: readonly string[]
}

function importNode(node: Json, place: string, graph: Graph, findings: ImportFindings): NodeRule[] {
  const name = readText(node, 'name') || readText(node, 'id') || 'table'
  const id = readText(node, 'id')
  const content = node['content']
  const attempt = (title: string, at: string, read: () => ForeignTable): NodeRule[] => {
    try {
      const table = read()
      const rule = toImportedRule(table, findings)
      const used = new Set(rule.definition.inputs.map((input) => input.title))
      const fields = table.columns.map((column) => column.title).filter((field) => used.has(excerpt(field)))
      return [{ node: id, rule, outputs: table.outputs, fields }]
    } catch (error) {
      if (!(error instanceof UnsupportedConstruct)) throw error
      findings.refuse(error.code, error.place || at, `${excerpt(title)} was left out: ${error.message}`)
      return []
    }
  }
  if (!isObject(content)) {
    return attempt(name, place, () => {
      throw new UnsupportedConstruct('layout_unknown', place, 'the node has no content.')
    })
  }
  const at = `${place}/content`
  switch (readText(node, 'type')) {
    case 'decisionTableNode':
      return attempt(name, at, () => toForeignTable(name, content, at))
    case 'switchNode':
      return attempt(name, at, () => toSwitchTable({ name, content, place: at }, id, graph))
    default: {
      if (readText(content, 'executionMode') === 'loop') {
        return attempt(name, at, () => {
          throw new UnsupportedConstruct(
            'construct_refused',
            `${at}/executionMode`,
            'it runs once for each item of a list.',
          )
        })
      }
      const expressions = content['expressions']
      if (!Array.isArray(expressions) || !expressions.every(isObject)) {
        return attempt(name, at, () => {
          throw new UnsupportedConstruct('layout_unknown', `${at}/expressions`, 'the node has no list of expressions.')
        })
      }
      return expressions.flatMap((expression: Json, n) => {
        const key = readText(expression, 'key')
        const title = `${name}: ${key}`
        return attempt(title, `${at}/expressions/${n}`, () =>
          toExpressionTable(
            { name: title, content, place: `${at}/expressions/${n}` },
            key,
            readText(expression, 'value'),
          ),
        )
      })
    }
  }
}

/** Tests of a row by field, before columns are assigned. */
interface FieldRow {
  readonly place: string
  readonly when: Conjunction
  readonly then: readonly PolicyValue[]
  readonly reason?: string | undefined
}

/** One column for each field that is read, those of the file first. */
function buildColumns(rows: readonly FieldRow[], first: readonly ForeignColumn[], under: string) {
  const columns = new Map(first.map((column) => [column.title, column]))
  for (const { when, place } of rows) {
    for (const field of when.keys()) if (!columns.has(field)) columns.set(field, { title: field, place })
  }
  const fields = [...columns.keys()]
  const prefixed = (field: string) => (under === '' || field.startsWith('$.') ? field : `${under}.${field}`)
  return {
    columns: [...columns.values()].map((column) => ({ ...column, title: prefixed(column.title) })),
    rows: rows.map(({ when, ...row }) => ({ ...row, cells: fields.map((field) => when.get(field)?.cell ?? ANY_CELL) })),
  }
}

function toForeignTable(name: string, content: Json, place: string): ForeignTable {
  const hit_policy = HIT_POLICIES.get(readText(content, 'hitPolicy'))
  if (!hit_policy)
    throw new UnsupportedConstruct('construct_refused', `${place}/hitPolicy`, 'its hit policy is unknown.')
  if (readText(content, 'executionMode') === 'loop') {
    throw new UnsupportedConstruct(
      'construct_refused',
      `${place}/executionMode`,
      'it runs once for each item of a list.',
    )
  }
  const inputs = readParts(content, 'inputs', place)
  const outputs = readParts(content, 'outputs', place)
  const rules = readParts(content, 'rules', place)
  const rows = rules.flatMap((rule, n): FieldRow[] => {
    const at = `${place}/rules/${n}`
    const alternatives = rowConditions(rule, inputs, at, place)
    if (alternatives.length > 1 && hit_policy === 'collect') {
      throw new UnsupportedConstruct(
        'construct_refused',
        at,
        'the row has alternatives, of which more than one would count.',
      )
    }
    const then = outputs.map((output) => parseOutput(readCell(rule, output, at), 'zen', `${at}/${readId(output)}`))
    const reason = readText(rule, '_description') || undefined
    return alternatives.map((when) => ({ place: at, when, then, reason }))
  })
  const known = inputs.flatMap((input, n): ForeignColumn[] => {
    const field = readText(input, 'field')
    return PATH.test(field) ? [{ title: field, place: `${place}/inputs/${n}` }] : []
  })
  const path = readText(content, 'outputPath')
  const names = outputs.map((output, n) => readOutputName(output, `${place}/outputs/${n}`))
  return {
    name,
    place,
    hit_policy,
    ...buildColumns(rows, known, readText(content, 'inputField')),
    outputs: names.map((each) => (path === '' ? each : `${path}.${each}`)),
  }
}

function rowConditions(rule: Json, inputs: readonly Json[], at: string, place: string): Conjunction[] {
  let joined: Conjunction[] = [new Map()]
  inputs.forEach((input, n) => {
    const text = readCell(rule, input, at).trim()
    if (text === '' || text === '-') return
    const cell_at = `${at}/${readId(input)}`
    const refuse = (construct: string): never => {
      throw new UnsupportedConstruct('construct_refused', cell_at, `${excerpt(text)} makes ${construct}.`)
    }
    const cells = cellConditions(text, input, cell_at, `${place}/inputs/${n}`)
    joined = joined.flatMap((one) => cells.map((other) => mergeConjunctions(one, other, { refuse })))
    if (joined.length > MAX_ALTERNATIVES) refuse('more alternatives than can be written as rows')
  })
  return joined
}

const MAX_ALTERNATIVES = 50

/** A simple test of the column's field, a list of values, or a Boolean expression. */
function cellConditions(text: string, input: Json, place: string, column_place: string): Conjunction[] {
  const field = readText(input, 'field')
  if (field === '') return parseCondition(text, place)
  if (!PATH.test(field)) {
    const message = `the column ${excerpt(field)} uses ${describeConstruct(field, 'zen')}.`
    throw new UnsupportedConstruct('construct_refused', column_place, message)
  }
  try {
    return [toConjunction(field, parseTests(text, 'zen', place))]
  } catch (error) {
    if (!(error instanceof UnsupportedConstruct) || error.code !== 'construct_refused') throw error
  }
  return parseCellCondition(text, place, field)
}

interface LocatedNode {
  readonly name: string
  readonly content: Json
  readonly place: string
}

function toExpressionTable({ name, content, place }: LocatedNode, key: string, value: string): ForeignTable {
  if (!PATH.test(key))
    throw new UnsupportedConstruct('construct_refused', place, `${excerpt(key) || 'it'} is not a plain name.`)
  const { rows, otherwise } = parseDecisionList(value, place)
  const then = (text: string) => [parseOutput(text, 'zen', place)]
  const path = readText(content, 'outputPath')
  const listed = rows.map((row): FieldRow => ({ place, when: row.when, then: then(row.then) }))
  if (listed.length === 0) {
    throw new UnsupportedConstruct(
      'constant',
      place,
      `it is always ${excerpt(otherwise)}, and a rule reads at least one input.`,
    )
  }
  return {
    name,
    place,
    hit_policy: 'first',
    ...buildColumns(listed, [], readText(content, 'inputField')),
    outputs: [path === '' ? key : `${path}.${key}`],
    otherwise: then(otherwise),
  }
}

/** The rule of a switch: its statements are rows, and the output is the nodes that a statement leads to. */
function toSwitchTable({ name, content, place }: LocatedNode, id: string, graph: Graph): ForeignTable {
  const hit_policy = HIT_POLICIES.get(readText(content, 'hitPolicy') || 'first')
  if (!hit_policy)
    throw new UnsupportedConstruct('construct_refused', `${place}/hitPolicy`, 'its hit policy is unknown.')
  const rows = readParts(content, 'statements', place).flatMap((statement, n): FieldRow[] => {
    const at = `${place}/statements/${n}`
    const condition = readText(statement, 'condition')
    const alternatives = condition === '' ? [new Map()] : parseCondition(condition, at)
    if (alternatives.length > 1 && hit_policy === 'collect') {
      throw new UnsupportedConstruct(
        'construct_refused',
        at,
        'the statement has alternatives, of which more than one would count.',
      )
    }
    const then = [graph.getBranchName(id, readId(statement))]
    return alternatives.map((when) => ({ place: at, when, then }))
  })
  return { name, place, hit_policy, ...buildColumns(rows, [], ''), outputs: [BRANCH] }
}

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/

function readOutputName(output: Json, place: string): string {
  const field = readText(output, 'field')
  if (PATH.test(field)) return field
  throw new UnsupportedConstruct(
    'construct_refused',
    place,
    `the output ${excerpt(field) || 'without a field'} is not a plain one.`,
  )
}

function readParts(content: Json, name: string, place: string): Json[] {
  const parts = content[name]
  if (Array.isArray(parts) && parts.every(isObject)) return parts
  throw new UnsupportedConstruct('layout_unknown', `${place}/${name}`, `the table has no list of ${name}.`)
}

/** Absent means empty, as the editor writes for an unused cell. */
function readCell(rule: Json, column: Json, place: string): string {
  const cell = Object.hasOwn(rule, readId(column)) ? rule[readId(column)] : ''
  if (typeof cell === 'string') return cell
  if (cell === null || cell === undefined) return ''
  throw new UnsupportedConstruct('layout_unknown', `${place}/${readId(column)}`, 'a cell is not a text.')
}
