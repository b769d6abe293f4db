/** Charts of reports as SVG: bars, stacked bars and lines, drawn with whole numbers only, so that the same data gives the same text. */
import type { ChartSeries, ReportChart, Tone } from '#kernel/report-template.ts'

export interface RenderedChart {
  readonly svg: string
  /** The same numbers as text, for people who do not see the chart. */
  readonly alt: string
  readonly width: number
}

const WIDTH = 720
const LABEL_WIDTH = 170
const LABEL_LETTERS = 26
/** For labels that are sentences. */
const LONG_LABEL_WIDTH = 290
const LONG_LABEL_LETTERS = 46
/** Between the middles of two labels below an axis. */
const DATE_GAP = 100
const ROW = 26
const BAR = 16
const PLOT_HEIGHT = 180
const AXIS = '#c9d1d6'
const TEXT = '#1f2933'
const MUTED = '#5c6770'
const toneColors: Readonly<Record<Tone, string>> = {
  neutral: '#2f6f8f',
  good: '#3c8f5f',
  warning: '#d09a2f',
  bad: '#b8433c',
}
/** Distinct in grey scale too. */
const palette = ['#2f6f8f', '#8fb8c9', '#d09a2f', '#b8433c', '#5c6770', '#3c8f5f', '#a9b4bb', '#6b4f8f']

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const getColor = ({ tone }: ChartSeries, index: number): string =>
  tone ? toneColors[tone] : (palette[index % palette.length] as string)

/** `value` of `most` on a scale of `length`, rounded to a whole number. */
const scale = (value: number, most: number, length: number): number =>
  most === 0 ? 0 : Math.round((value * length) / most)

const write = (x: number, y: number, text: string, more = ''): string =>
  `<text x="${x}" y="${y}" fill="${TEXT}"${more}>${escapeXml(text)}</text>`

/** Long labels are cut: the table beside the chart has the whole text. */
const shorten = (text: string, most: number): string =>
  [...text].length <= most ? text : `${[...text].slice(0, most - 1).join('')}…`

const wrap = (height: number, content: string, alt: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" ` +
  `aria-label="${escapeXml(alt)}" font-family="Noto Sans" font-size="12">${content}</svg>`

const toValueText = ({ values, texts }: ChartSeries, at: number): string => texts?.[at] ?? String(values[at] ?? 0)

function describe({ title, labels, series }: ReportChart): string {
  const single = series.length === 1
  const parts = labels.map((label, at) => {
    const values = series.map((one) => `${single ? '' : `${one.title} `}${toValueText(one, at)}`)
    return `${label}: ${values.join(', ')}`
  })
  return `${title}. ${parts.join('; ')}.`
}

function drawLegend(series: readonly ChartSeries[], y: number): string {
  let x = LABEL_WIDTH
  return series
    .map((one, index) => {
      const at = x
      x += 26 + [...one.title].length * 7
      return `<rect x="${at}" y="${y - 10}" width="12" height="12" fill="${getColor(one, index)}"/>${write(at + 17, y, one.title)}`
    })
    .join('')
}

/** One bar for each label; with several series their parts stand one after the other. */
function drawBars(chart: ReportChart, alt: string): string {
  const { labels, series, has_long_labels = false } = chart
  const label_width = has_long_labels ? LONG_LABEL_WIDTH : LABEL_WIDTH
  const totals = labels.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0))
  const most = Math.max(0, ...totals)
  const plot = WIDTH - label_width - 60
  const top = series.length > 1 ? 26 : 0
  const [single] = series.length === 1 ? series : []
  const rows = labels.map((label, at) => {
    const y = top + at * ROW
    let x = label_width
    const parts = series.map((one, index) => {
      const width = scale(Math.max(0, one.values[at] ?? 0), most, plot)
      const part =
        width > 0 ? `<rect x="${x}" y="${y + 5}" width="${width}" height="${BAR}" fill="${getColor(one, index)}"/>` : ''
      x += width
      return part
    })
    const text = single?.texts ? toValueText(single, at) : String(totals[at] ?? 0)
    const name = shorten(label, has_long_labels ? LONG_LABEL_LETTERS : LABEL_LETTERS)
    return `${write(0, y + 17, name)}${parts.join('')}${write(x + 6, y + 17, text)}`
  })
  const axis = `<line x1="${label_width}" y1="${top}" x2="${label_width}" y2="${top + labels.length * ROW}" stroke="${AXIS}"/>`
  return wrap(top + labels.length * ROW + 6, (top > 0 ? drawLegend(series, 14) : '') + axis + rows.join(''), alt)
}

/** The first, the middle and the last; with positions as many as fit, and none twice. */
function chooseLabels({ labels, positions }: ReportChart, getX: (at: number) => number): number[] {
  const last = labels.length - 1
  if (!positions) return [...new Set([0, Math.floor(last / 2), last])].filter((at) => at >= 0)
  const chosen = labels.length > 0 ? [0] : []
  for (let at = 1; at < last; at++) {
    const before = chosen.at(-1) as number
    const isApart = getX(at) - getX(before) >= DATE_GAP && getX(last) - getX(at) >= DATE_GAP
    if (isApart && labels[at] !== labels[before] && labels[at] !== labels[last]) chosen.push(at)
  }
  return last > 0 && labels[last] !== labels[chosen.at(-1) as number] ? [...chosen, last] : chosen
}

/** Values over time. */
function drawLines(chart: ReportChart, alt: string): string {
  const { labels, series, positions } = chart
  const top = series.length > 1 ? 30 : 12
  const left = 50
  const plot = WIDTH - left - 20
  const most = Math.max(1, ...(chart.ticks ?? []).map(({ value }) => value), ...series.flatMap(({ values }) => values))
  const bottom = top + PLOT_HEIGHT
  const first = positions?.[0] ?? 0
  const span = positions ? (positions.at(-1) ?? 0) - first : labels.length - 1
  const getX = (at: number): number => left + scale((positions?.[at] ?? at) - first, Math.max(1, span), plot)
  const getY = (value: number): number => bottom - scale(value, most, PLOT_HEIGHT)
  const ticks = chart.ticks ?? [0, Math.round(most / 2), most].map((value) => ({ value, text: String(value) }))
  const grid = ticks
    .filter(({ value }, at, all) => all.findIndex((one) => one.value === value) === at)
    .map(
      ({ value, text }) =>
        `<line x1="${left}" y1="${getY(value)}" x2="${WIDTH - 20}" y2="${getY(value)}" stroke="${AXIS}"/>` +
        write(left - 8, getY(value) + 4, text, ` text-anchor="end"`),
    )
  const lines = series.map((one, index) => {
    const points = one.values.flatMap((value, at) => {
      const point = `${getX(at)},${getY(value)}`
      return positions && at > 0 ? [`${getX(at)},${getY(one.values[at - 1] as number)}`, point] : [point]
    })
    const color = getColor(one, index)
    const dots =
      one.values.length <= 40
        ? one.values.map((value, at) => `<circle cx="${getX(at)}" cy="${getY(value)}" r="3" fill="${color}"/>`)
        : []
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join('')}`
  })
  const named = chooseLabels(chart, getX)
  const names = named.map((at, index) => {
    const anchor = index === 0 ? 'start' : index === named.length - 1 ? 'end' : 'middle'
    return `<text x="${getX(at)}" y="${bottom + 18}" fill="${MUTED}" text-anchor="${anchor}">${escapeXml(labels[at] as string)}</text>`
  })
  const legend = series.length > 1 ? drawLegend(series, 14) : ''
  return wrap(bottom + 26, legend + grid.join('') + lines.join('') + names.join(''), alt)
}

export function renderChart(chart: ReportChart): RenderedChart {
  for (const { values } of chart.series)
    if (!values.every(Number.isSafeInteger)) throw new TypeError('Charts have whole numbers only')
  const alt = describe(chart)
  return { svg: chart.type === 'line' ? drawLines(chart, alt) : drawBars(chart, alt), alt, width: WIDTH }
}
