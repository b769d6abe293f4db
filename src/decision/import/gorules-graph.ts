/** How the nodes of a GoRules graph are joined: which node gives a field that another reads, and behind which branch a node stands. */
import { excerpt, type ImportedBranch, type ImportedLink, type ImportedRule, type ImportFindings } from './imported.ts'

export type Json = Readonly<Record<string, unknown>>

export const textOf = (part: Json, name: string): string => {
  const value = Object.hasOwn(part, name) ? part[name] : undefined
  return typeof value === 'string' ? value.trim() : ''
}
export const idOf = (part: Json): string => textOf(part, 'id')

/** The output of the rule that stands for a switch. */
export const BRANCH = 'branch'

interface Edge {
  readonly from: string
  readonly to: string
  /** The statement of a switch that it leaves by. */
  readonly handle: string
}

/** Where a field comes from, as far as the graph says. */
interface Source {
  /** Nodes that give it, or may: of a function nobody knows. */
  readonly givers: ReadonlySet<string>
  /** What was sent to the graph may reach the reader. */
  readonly is_input: boolean
}

export class Graph {
  private readonly nodes: ReadonlyMap<string, Json>
  private readonly edges: readonly Edge[]

  constructor(nodes: readonly Json[], edges: readonly Json[]) {
    this.nodes = new Map(nodes.map((node) => [idOf(node), node]))
    this.edges = edges.map((edge) => ({
      from: textOf(edge, 'sourceId'),
      to: textOf(edge, 'targetId'),
      handle: textOf(edge, 'sourceHandle'),
    }))
  }

  nameOf(id: string): string {
    return excerpt(textOf(this.nodes.get(id) ?? {}, 'name') || id)
  }

  /** The nodes a statement leads to, or the statement itself where it leads nowhere. */
  branchName(id: string, statement: string): string {
    const targets = this.edges.filter(({ from, handle }) => from === id && handle === statement)
    const names = [...new Set(targets.map(({ to }) => this.nameOf(to)))].sort()
    return names.length > 0 ? names.join(' + ') : statement
  }

  /** The branches behind which a node stands; none where a way leads to it that no switch guards. */
  branchesTo(id: string): { readonly node: string; readonly value: string }[] {
    const ways = this.edges.filter(({ to }) => to === id)
    const guarded = ways.filter(({ from }) => this.typeOf(from) === 'switchNode')
    if (guarded.length < ways.length) return []
    return guarded.map(({ from, handle }) => ({ node: from, value: this.branchName(from, handle) }))
  }

  /** Who gives `field` to the node; each node hands on what it was given where it says so. */
  sourceOf(field: string, reader: string, gives: (node: string, field: string) => boolean): Source {
    const givers = new Set<string>()
    const seen = new Set<string>()
    let is_input = false
    const waiting = [reader]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const { from } of this.edges.filter(({ to }) => to === node)) {
        if (seen.has(from)) continue
        seen.add(from)
        if (this.typeOf(from) === 'inputNode') is_input = true
        else if (gives(from, field)) givers.add(from)
        else if (this.handsOn(from)) waiting.push(from)
      }
    }
    return { givers, is_input }
  }

  /** Whether a node that was left out would have given the field: of a function or another decision nobody knows. */
  mayGive(id: string, field: string): boolean {
    const node = this.nodes.get(id) ?? {}
    const content = (node['content'] ?? {}) as Json
    const prefix = textOf(content, 'outputPath')
    const named = (name: string) => covers(prefix === '' ? name : `${prefix}.${name}`, field)
    const parts = (list: string, member: string) =>
      Array.isArray(content[list]) && (content[list] as Json[]).some((part) => named(textOf(part ?? {}, member)))
    switch (this.typeOf(id)) {
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

  /** Whether any way leads to the node. */
  isJoined(id: string): boolean {
    return this.edges.some(({ to }) => to === id)
  }

  private typeOf(id: string): string {
    return textOf(this.nodes.get(id) ?? {}, 'type')
  }

  private handsOn(id: string): boolean {
    if (this.typeOf(id) === 'switchNode') return true
    return ((this.nodes.get(id)?.['content'] ?? {}) as Json)['passThrough'] === true
  }
}

/** A field and what stands in it or around it. */
const covers = (given: string, field: string): boolean =>
  given === field || field.startsWith(`${given}.`) || given.startsWith(`${field}.`)

interface Linkable {
  readonly node: string
  readonly rule: ImportedRule
  readonly outputs: readonly string[]
  readonly fields: readonly string[]
}

/** Each rule with the inputs that other nodes give, and the branches it stands behind; what is left to the caller is said. */
export function linked(rules: readonly Linkable[], graph: Graph, findings: ImportFindings): ImportedRule[] {
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
        : graph.sourceOf(field, node, (id, of) => graph.mayGive(id, of))
      for (const giver of givers) {
        const found = givenBy(giver, output)
        reads.push({ input: name, rule: found?.rule.place ?? null, node: graph.nameOf(giver), output })
      }
      if (givers.size > 0)
        findings.warn('reads_node', rule.place, readsWords(rule, output, [...givers], is_input, graph))
      else if (!is_input && graph.isJoined(node))
        findings.warn(
          'reads_nothing',
          rule.place,
          `${excerpt(rule.name)} reads ${output}, which no node hands on to it.`,
        )
    }
    const only_if = graph.branchesTo(node).map((branch): ImportedBranch => {
      const found = rules.find((one) => one.node === branch.node)
      return { rule: found?.rule.place ?? null, node: graph.nameOf(branch.node), output: BRANCH, value: branch.value }
    })
    for (const { node: name, value } of only_if) {
      const message = `${excerpt(rule.name)} applies only where ${name} chooses ${value}.`
      findings.warn('behind_switch', rule.place, message)
    }
    return { ...rule, reads, only_if }
  })
}

function readsWords(rule: ImportedRule, output: string, givers: string[], is_input: boolean, graph: Graph): string {
  const names = givers.map((giver) => graph.nameOf(giver)).join(' or ')
  const also = is_input ? ', or the input of the graph' : ''
  return `${excerpt(rule.name)} reads ${output}, which ${names}${also} gives; it is an input of this rule.`
}
