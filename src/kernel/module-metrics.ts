/**
 * Metrics that modules declare beside their routes and jobs. Labels have a fixed set of values, so that no tenant, key or text of a
 * provider becomes a series, and every series exists at 0 before the first event.
 */
import prom from 'prom-client'

type LabelValues = Readonly<Record<string, readonly string[]>>
type LabelsOf<L extends LabelValues> = { readonly [K in keyof L]: L[K][number] }

export interface MetricDeclaration<L extends LabelValues = LabelValues> {
  readonly name: string
  readonly help: string
  readonly labels: L
  /** Of a histogram; absent: a counter. */
  readonly buckets?: readonly number[]
}

export const declareMetric = <const L extends LabelValues>(declaration: MetricDeclaration<L>): MetricDeclaration<L> =>
  declaration

export class ModuleMetrics {
  readonly #counters = new Map<string, prom.Counter>()
  readonly #histograms = new Map<string, prom.Histogram>()

  constructor(registry: prom.Registry, declarations: readonly MetricDeclaration[]) {
    for (const { name, help, labels, buckets } of declarations) {
      const options = { name, help, labelNames: Object.keys(labels), registers: [registry] }
      if (buckets) {
        const histogram = new prom.Histogram({ ...options, buckets: [...buckets] })
        for (const series of listSeries(labels)) histogram.zero(series)
        this.#histograms.set(name, histogram)
      } else {
        const counter = new prom.Counter(options)
        for (const series of listSeries(labels)) counter.inc(series, 0)
        this.#counters.set(name, counter)
      }
    }
  }

  increment<L extends LabelValues>({ name }: MetricDeclaration<L>, labels: LabelsOf<L>, by = 1): void {
    this.#counters.get(name)?.inc({ ...labels } as Record<string, string>, by)
  }

  observe<L extends LabelValues>({ name }: MetricDeclaration<L>, labels: LabelsOf<L>, value: number): void {
    this.#histograms.get(name)?.observe({ ...labels } as Record<string, string>, value)
  }
}

function listSeries(labels: LabelValues): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (series, [label, values]) => series.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  )
}
