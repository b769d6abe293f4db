/** Links the nodes of a GoRules graph: which node provides a field that another reads, and on which branch of a switch a node is. */
import {
  excerpt,
  type ImportedBranch,
  type ImportedLink,
  type ImportedRule,
  type ImportFindings,
} from './import-result.ts'

export type Json = Readonly<Record<string, unknown>>

export const readText = (part: Json, name: string): string => {
  const value = Object.hasOwn(part, name) ? part[name] : undefined
  return typeof value === 'string' ? value.trim() : ''
}
export const readId = (part: Json): string => readText(part, 'id')

/** The output of the rule of a switch. */
export const BRANCH = 'branch'

interface Edge {
  readonly from: string
  readonly to: string
  /** The statement of a switch that the edge belongs to. */
  readonly handle: string
}

/** The source of a field, as far as the graph defines it. */
interface FieldSource {
  /** Nodes that provide it, or may: the outputs of functions are unknown. */
  readonly givers: ReadonlySet<string>
  /** The input of the graph may reach the reader. */
  readonly is_input: boolean
}

export class Graph {
  private readonly nodes: ReadonlyMap<string, Json>
  private readonly edges: readonly Edge[]

  constructor(nodes: readonly Json[], edges: readonly Json[]) {
    this.nodes = new Map(nodes.map((node) => [readId(node), node]))
    this.edges = edges.map((edge) => ({
      from: readText(edge, 'sourceId'),
      to: readText(edge, 'targetId'),
      handle: readText(edge, 'sourceHandle'),
    }))
  }

  getNodeName(id: string): string {
    return excerpt(readText(this.nodes.get(id) ?? {}, 'name') || id)
  }

  /** The nodes a statement leads to, or the statement itself when it has no edge. */
  getBranchName(id: string, statement: string): string {
    const targets = this.edges.filter(({ from, handle }) => from === id && handle === statement)
    const names = [...new Set(targets.map(({ to }) => this.getNodeName(to)))].sort()
    return names.length > 0 ? names.join(' + ') : statement
  }

  /** The branches a node depends on; none when a path without switch leads to it. */
  findBranchesTo(id: string): { readonly node: string; readonly value: string }[] {
    const ways = this.edges.filter(({ to }) => to === id)
    const guarded = ways.filter(({ from }) => this.getNodeType(from) === 'switchNode')
    if (guarded.length < ways.length) return []
    return guarded.map(({ from, handle }) => ({ node: from, value: this.getBranchName(from, handle) }))
  }

  /** Finds the nodes that provide `field`; nodes with pass-through also forward their input. */
  findSource(field: string, reader: string, gives: (node: string, field: string) => boolean): FieldSource {
    const givers = new Set<string>()
    const seen = new Set<string>()
    let is_input = false
    const waiting = [reader]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const { from } of this.edges.filter(({ to }) => to === node)) {
        if (seen.has(from)) continue
        seen.add(from)
        if (this.getNodeType(from) === 'inputNode') is_input = true
        else if (gives(from, field)) givers.add(from)
        else if (this.passesThrough(from)) waiting.push(from)
      }
    }
    return { givers, is_input }
  }

  /** Whether a node that was left out may provide the field; the outputs of functions and other decisions are unknown. */
  mayProvide(id: string, field: string): boolean {
    const node = this.nodes.get(id) ?? {}
    const content = (node['content'] ?? {}) as Json
    const prefix = readText(content, 'outputPath')
    const named = (name: string) => overlapsField(prefix === '' ? name : `${prefix}.${name}`, field)
    const parts = (list: string, member: string) =>
      Array.isArray(content[list]) && (content[list] as Json[]).some((part) => named(readText(part ?? {}, member)))
    switch (this.getNodeType(id)) {
      case 'decisionTableNode':
        return parts('outputs', 'field')
      case 'expressionNode':
        return parts('expressions', 'key')
      case 'switchNode':
      case 'outputNode':
        return false
      default:
        return true
    }
  }

  /** Whether any edge leads to the node. */
  hasIncomingEdge(id: string): boolean {
    return this.edges.some(({ to }) => to === id)
  }

  private getNodeType(id: string): string {
    return readText(this.nodes.get(id) ?? {}, 'type')
  }

  private passesThrough(id: string): boolean {
    if (this.getNodeType(id) === 'switchNode') return true
    return ((this.nodes.get(id)?.['content'] ?? {}) as Json)['passThrough'] === true
  }
}

/** Whether one field is equal to, inside or around the other. */
const overlapsField = (given: string, field: string): boolean =>
  given === field || field.startsWith(`${given}.`) || given.startsWith(`${field}.`)

interface Linkable {
  readonly node: string
  readonly rule: ImportedRule
  readonly outputs: readonly string[]
  readonly fields: readonly string[]
}

/** Adds to each rule the inputs that other nodes provide and the branches it depends on; reports what is left to the caller. */
export function linkRules(rules: readonly Linkable[], graph: Graph, findings: ImportFindings): ImportedRule[] {
  const givenBy = (node: string, field: string): Linkable | undefined =>
    rules.find((one) => one.node === node && one.outputs.includes(field))
  return rules.map(({ node, rule, fields }) => {
    const reads: ImportedLink[] = []
    for (const [n, field] of fields.entries()) {
      const { name } = rule.definition.inputs[n] as { name: string }
      const is_sibling = field.startsWith('$.')
      const output = is_sibling ? field.slice(2) : field
      const { givers, is_input } = is_sibling
        ? { givers: new Set([node]), is_input: false }
        : graph.findSource(field, node, (id, of) => graph.mayProvide(id, of))
      for (const giver of givers) {
        const found = givenBy(giver, output)
        reads.push({ input: name, rule: found?.rule.place ?? null, node: graph.getNodeName(giver), output })
      }
      if (givers.size > 0)
        findings.warn(
          'reads_node',
          rule.place,
          describeReads(rule, output, describeGivers([...givers], is_input, graph)),
        )
      else if (!is_input && graph.hasIncomingEdge(node))
        findings.warn(
          'reads_nothing',
          rule.place,
          `${excerpt(rule.name)} reads ${output}, which no node hands on to it.`,
        )
    }
    const only_if = graph.findBranchesTo(node).map((branch): ImportedBranch => {
      const found = rules.find((one) => one.node === branch.node)
      return {
        rule: found?.rule.place ?? null,
        node: graph.getNodeName(branch.node),
        output: BRANCH,
        value: branch.value,
      }
    })
    for (const { node: name, value } of only_if) {
      const message = `${excerpt(rule.name)} applies only where ${name} chooses ${value}.`
      findings.warn('behind_switch', rule.place, message)
    }
    return { ...rule, reads, only_if }
  })
}

function describeGivers(givers: readonly string[], is_input: boolean, graph: Graph): string {
  const names = givers.map((giver) => graph.getNodeName(giver)).join(' or ')
  return is_input ? `${names}, or the input of the graph` : names
}

const describeReads = (rule: ImportedRule, output: string, givers: string): string =>
  `${excerpt(rule.name)} reads ${output}, which ${givers} gives; it is an input of this rule.`
