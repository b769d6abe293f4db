/** Reads PromQL well enough to say which metrics, labels and routes it names that the program does not have. */
import type { Registry } from 'prom-client'

/** Given by whoever scrapes, or by the histogram itself. */
const anyLabel = new Set(['job', 'instance', 'le'])
const operators = new Set(['or', 'and', 'unless'])

export function createQueryChecker(registry: Registry, paths: readonly string[]) {
  /** From each name a query may use to the labels it has. */
  async function series(): Promise<Map<string, ReadonlySet<string>>> {
    const known = new Map<string, ReadonlySet<string>>([['up', new Set()]])
    for (const { name, type } of await registry.getMetricsAsJSON()) {
      const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] }
      const suffixes = String(type) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      for (const suffix of suffixes) known.set(name + suffix, new Set(labelNames))
    }
    return known
  }

  const labels = async (): Promise<ReadonlySet<string>> =>
    new Set([...(await series()).values()].flatMap((names) => [...names]))

  function unknownRoutes(expression: string): string[] {
    return [...expression.matchAll(/http_route(=~|!~|!=|=)"([^"]*)"/g)]
      .filter(([, operator = '', value = '']) => {
        const wanted = operator.includes('~') ? new RegExp(`^(?:${value})$`) : null
        return !paths.some((path) => wanted?.test(path) ?? path === value)
      })
      .map(([, , value]) => `http_route ${value}`)
  }

  async function faultsOf(expression: string): Promise<string[]> {
    const known = await series()
    const all = await labels()
    const bare = expression.replace(/"[^"]*"/g, '""')
    const selected = [...bare.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, name = '', inside = '']) =>
      [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
        .filter(([, label = '']) => !anyLabel.has(label) && !known.get(name)?.has(label))
        .map(([, label]) => `${name}{${label}}`),
    )
    const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)]
      .flatMap(([, list = '']) => list.split(/,\s*/))
      .filter((label) => !anyLabel.has(label) && !all.has(label))
    const stripped = bare.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ')
    const names = [...stripped.matchAll(/([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/g)].map(([, name]) => name as string)
    const metrics = names.filter((name) => !operators.has(name))
    if (metrics.length === 0) return [`no metric in ${expression}`]
    return [...selected, ...grouped, ...metrics.filter((name) => !known.has(name)), ...unknownRoutes(expression)]
  }

  return { faultsOf, labels }
}
