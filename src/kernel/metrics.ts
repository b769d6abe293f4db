/**
 * Prometheus metrics, named by the OpenTelemetry conventions, without a tenant label; served on a port of their own together
 * with liveness.
 */
import { createServer, type Server } from 'node:http'
import prom from 'prom-client'

export interface GaugeDefinition {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

export interface GaugeReading<Name extends string = string> {
  readonly name: Name
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

export const alarmReasons = [
  'policy_violation',
  'internal_error',
  'audit_broken',
  'key_unavailable',
  'decryption_failed',
  'document_damaged',
  'report_altered',
] as const
export type AlarmReason = (typeof alarmReasons)[number]

const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Durations {
  readonly labels: Readonly<Record<string, string | number>>
  readonly counts: number[]
  sum_s: number
}

/** A Prometheus histogram for request durations: the library's own hashes labels at every observation. */
class RequestDurations {
  readonly name = 'http_server_request_duration_seconds'
  readonly help = 'Duration of HTTP requests by route template and status.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly labelNames = ['http_request_method', 'http_route', 'http_response_status_code']
  readonly #series = new Map<string, Map<string, Map<number, Durations>>>()

  observe(method: string, route: string, status: number, seconds: number): void {
    const durations = this.#series.get(method)?.get(route)?.get(status) ?? this.#add(method, route, status)
    let bucket = 0
    while (bucket < BUCKETS_S.length && seconds > (BUCKETS_S[bucket] as number)) bucket++
    durations.counts[bucket] = (durations.counts[bucket] as number) + 1
    durations.sum_s += seconds
  }

  #add(method: string, route: string, status: number): Durations {
    const routes = this.#series.get(method) ?? new Map<string, Map<number, Durations>>()
    const statuses = routes.get(route) ?? new Map<number, Durations>()
    const labels = { http_request_method: method, http_route: route, http_response_status_code: status }
    const durations = { labels, counts: Array.from({ length: BUCKETS_S.length + 1 }, () => 0), sum_s: 0 }
    this.#series.set(method, routes.set(route, statuses.set(status, durations)))
    return durations
  }

  /** Called by the registry at a scrape. */
  async get() {
    const values: { metricName: string; labels: Readonly<Record<string, string | number>>; value: number }[] = []
    for (const routes of this.#series.values()) {
      for (const statuses of routes.values()) {
        for (const { labels, counts, sum_s } of statuses.values()) {
          let count = 0
          for (const [at, more] of counts.entries()) {
            count += more
            values.push({
              metricName: `${this.name}_bucket`,
              labels: { le: BUCKETS_S[at] ?? '+Inf', ...labels },
              value: count,
            })
          }
          values.push({ metricName: `${this.name}_sum`, labels, value: sum_s })
          values.push({ metricName: `${this.name}_count`, labels, value: count })
        }
      }
    }
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values }
  }
}

export class Metrics {
  readonly registry = new prom.Registry()
  readonly #requests = new RequestDurations()
  readonly #jobs = new prom.Histogram({
    name: 'probity_job_run_duration_seconds',
    help: 'Duration of one run of a job by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers: [this.registry],
  })
  readonly #egress = new prom.Histogram({
    name: 'probity_egress_request_duration_seconds',
    help: 'Duration of outbound requests by outcome: answered, or the word of the fault.',
    labelNames: ['outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  })
  readonly alarms = new prom.Counter({
    name: 'probity_alarms_total',
    help: `Events that are always a bug or an attack, by reason: ${alarmReasons.join(', ')}.`,
    labelNames: ['reason'],
    registers: [this.registry],
  })

  constructor() {
    prom.collectDefaultMetrics({ register: this.registry })
    // A counter that first appears with the value 1 has no increase in Prometheus: the first alarm would not alert.
    for (const reason of alarmReasons) this.alarms.inc({ reason }, 0)
    this.registry.registerMetric(this.#requests as unknown as prom.Metric)
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe(method, route, status, seconds)
  }
  observeJob(kind: string, outcome: string, seconds: number): void {
    this.#jobs.observe({ kind, outcome }, seconds)
  }
  observeEgress(outcome: string, seconds: number): void {
    this.#egress.observe({ outcome }, seconds)
  }
  addGauge(name: string, help: string, read: () => number): void {
    new prom.Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }
  /** Counters that are kept elsewhere and read at a scrape. */
  addCounters(counter: GaugeDefinition, read: () => readonly Omit<GaugeReading, 'name'>[]): void {
    new prom.Counter({
      name: counter.name,
      help: counter.help,
      labelNames: [...(counter.labels ?? [])],
      registers: [this.registry],
      collect() {
        this.reset()
        for (const { labels = {}, value } of read()) this.inc(labels, value)
      },
    })
  }
  /** Gauges that are read together, once per scrape. A gauge without a reading is absent, not zero. */
  addGauges(gauges: readonly GaugeDefinition[], read: () => Promise<readonly GaugeReading[]>): void {
    let pending: Promise<readonly GaugeReading[]> | undefined
    const readOnce = () => {
      pending ??= read().finally(() => {
        pending = undefined
      })
      return pending
    }
    for (const { name, help, labels = [] } of gauges) {
      new prom.Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [this.registry],
        async collect() {
          const found = (await readOnce()).filter((reading) => reading.name === name)
          this.reset()
          // A gauge without labels would otherwise stay at 0.
          if (labels.length === 0) this.remove()
          for (const reading of found) this.set(reading.labels ?? {}, reading.value)
        },
      })
    }
  }
}

const PLAIN = { 'content-type': 'text/plain' }

/**
 * On a port of its own, so that liveness does not wait behind a flood of connections to the API: Node accepts one waiting
 * connection per port and turn of its event loop.
 */
export function serveMetrics(metrics: Metrics, port: number, host: string): Promise<Server> {
  const server = createServer(async ({ method, url }, response) => {
    if (method === 'GET' && url === '/health') response.writeHead(200, PLAIN).end('alive\n')
    else if (method !== 'GET' || url !== '/metrics') {
      response.writeHead(404, PLAIN).end('GET /metrics or GET /health\n')
    } else {
      response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(await metrics.registry.metrics())
    }
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}
