/**
 * Decision tables of GoRules JSON graphs as rules, each table by itself. Expressions, functions, switches and linked decisions
 * have no counterpart and are named; how the nodes of a graph are joined is not taken over.
 */
import { readJson } from '../../kernel/json-text.ts'
import { isObject } from '../../registry/content/pointer.ts'
import type { HitPolicy } from '../model.ts'
import { type Cell, readOutput, readTests } from './cell.ts'
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

const NODES = new Map([
  ['expressionNode', 'an expression node'],
  ['functionNode', 'a function node'],
  ['switchNode', 'a switch node'],
  ['decisionNode', 'a node that calls another decision'],
  ['customNode', 'a custom node'],
])
const NO_LOGIC = new Set(['inputNode', 'outputNode'])
const HIT_POLICIES = new Map<string, HitPolicy>([
  ['first', 'first'],
  ['collect', 'collect'],
])

type Json = Readonly<Record<string, unknown>>

export function importGoRules(json: string): Imported {
  const findings = new ImportFindings()
  const definitions: ImportedRule[] = []
  const nodes = readNodes(json, findings)
  const ids = new Set<string>()
  for (const [n, node] of nodes.entries()) {
    const place = `/nodes/${n}`
    const type = textOf(node, 'type')
    const id = textOf(node, 'id')
    if (id !== '' && ids.has(id)) {
      findings.refuse('id_duplicate', `${place}/id`, `The id ${excerpt(id)} stands twice; the node was left out.`)
      continue
    }
    ids.add(id)
    if (NO_LOGIC.has(type)) continue
    const rule = type === 'decisionTableNode' ? importTable(node, place, findings) : null
    if (rule) definitions.push(rule)
    else if (type !== 'decisionTableNode') {
      const what = NODES.get(type) ?? `a node of type ${excerpt(type) || 'nothing'}`
      const message = `${excerpt(textOf(node, 'name'))} was left out: it is ${what}; only decision tables are taken over.`
      findings.refuse('construct_refused', place, message)
    }
  }
  return { definitions, findings: findings.all() }
}

function readNodes(json: string, findings: ImportFindings): Json[] {
  if (json.length > MAX_FILE_CHARS) {
    findings.refuse(
      'source_too_large',
      '',
      `A file may have ${MAX_FILE_CHARS} characters; this one has ${json.length}.`,
    )
    return []
  }
  const graph = parsed(json, findings)
  const nodes = isObject(graph) ? graph['nodes'] : undefined
  if (graph === undefined) return []
  if (!Array.isArray(nodes) || !nodes.every(isObject)) {
    findings.refuse('layout_unknown', '/nodes', 'The file has no list of nodes: this is not a GoRules graph.')
    return []
  }
  if (nodes.length > MAX_TABLES) {
    findings.refuse('source_too_large', '/nodes', `A file may hold ${MAX_TABLES} nodes; this one has ${nodes.length}.`)
    return []
  }
  return nodes
}

function parsed(json: string, findings: ImportFindings): unknown {
  try {
    return readJson(Buffer.from(json))
  } catch (error) {
    const detail = refusalOf(error)
    if (detail === undefined) throw error
    findings.refuse('not_well_formed', '', detail.replaceAll('The body', 'The file'))
    return undefined
  }
}

/** In the words of the reader, which speaks of the body of a request. */
function refusalOf(error: unknown): string | undefined {
  const { extra } = error as { readonly extra?: { readonly detail?: string } }
  return extra?.detail
}

function importTable(node: Json, place: string, findings: ImportFindings): ImportedRule | null {
  const name = textOf(node, 'name') || textOf(node, 'id') || 'table'
  try {
    const content = node['content']
    if (!isObject(content)) throw new NotTakenOver('layout_unknown', place, 'the table has no content.')
    return ruleOf(foreignTable(name, content, `${place}/content`), findings)
  } catch (error) {
    if (!(error instanceof NotTakenOver)) throw error
    findings.refuse(error.code, error.place, `${excerpt(name)} was left out: ${error.message}`)
    return null
  }
}

function foreignTable(name: string, content: Json, place: string): ForeignTable {
  const hit_policy = HIT_POLICIES.get(textOf(content, 'hitPolicy'))
  if (!hit_policy) throw new NotTakenOver('construct_refused', `${place}/hitPolicy`, 'its hit policy is unknown.')
  if (textOf(content, 'executionMode') === 'loop') {
    throw new NotTakenOver('construct_refused', `${place}/executionMode`, 'it runs once for each item of a list.')
  }
  const inputs = partsOf(content, 'inputs', place)
  const outputs = partsOf(content, 'outputs', place)
  const rules = partsOf(content, 'rules', place)
  const rows = rules.map((rule, n) => {
    const at = `${place}/rules/${n}`
    const cells = inputs.map((input): Cell => readTests(cellOf(rule, input, at), 'zen', `${at}/${idOf(input)}`))
    const then = outputs.map((output) => readOutput(cellOf(rule, output, at), 'zen', `${at}/${idOf(output)}`))
    return { place: at, cells, then, reason: textOf(rule, '_description') || undefined }
  })
  const under = textOf(content, 'inputField')
  return {
    name,
    place,
    hit_policy,
    columns: inputs.map((input, n) => columnOf(input, rows, n, under, `${place}/inputs/${n}`)),
    outputs: outputs.map((output, n) => outputOf(output, `${place}/outputs/${n}`)),
    rows,
  }
}

function columnOf(input: Json, rows: ForeignTable['rows'], index: number, under: string, place: string): ForeignColumn {
  const field = textOf(input, 'field')
  if (PATH.test(field)) return { title: under ? `${under}.${field}` : field, place }
  // A column that no row uses may say what it likes.
  if (rows.every(({ cells }) => cells[index]?.test === '-')) return { title: textOf(input, 'name') || field, place }
  const what = field === '' ? 'names no field, so its cells are expressions' : `uses ${constructOf(field, 'zen')}`
  throw new NotTakenOver('construct_refused', place, `the column ${excerpt(field || textOf(input, 'name'))} ${what}.`)
}

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/

function outputOf(output: Json, place: string): string {
  const field = textOf(output, 'field')
  if (PATH.test(field)) return field
  throw new NotTakenOver(
    'construct_refused',
    place,
    `the output ${excerpt(field) || 'without a field'} is not a plain one.`,
  )
}

function partsOf(content: Json, name: string, place: string): Json[] {
  const parts = content[name]
  if (Array.isArray(parts) && parts.every(isObject)) return parts
  throw new NotTakenOver('layout_unknown', `${place}/${name}`, `the table has no list of ${name}.`)
}

/** Absent means empty, which is what the editor writes for a cell that was never touched. */
function cellOf(rule: Json, column: Json, place: string): string {
  const cell = Object.hasOwn(rule, idOf(column)) ? rule[idOf(column)] : ''
  if (typeof cell === 'string') return cell
  if (cell === null || cell === undefined) return ''
  throw new NotTakenOver('layout_unknown', `${place}/${idOf(column)}`, 'a cell is not a text.')
}

const textOf = (part: Json, name: string): string => {
  const value = Object.hasOwn(part, name) ? part[name] : undefined
  return typeof value === 'string' ? value.trim() : ''
}
const idOf = (part: Json): string => textOf(part, 'id')
