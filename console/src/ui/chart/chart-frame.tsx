/** The frame of a drawn chart: a labelled scale on the left, dates below, and the drawing, which is stretched to fill the rest. */
import './chart.css'
import type { ReactNode } from 'react'

export interface ScaleMark {
  /** 0 at the lower or left end, 1 at the other. */
  readonly place: number
  readonly label: string
}

interface ChartFrameProps {
  /** The text alternative of the drawing. */
  readonly title: string
  readonly height: number
  readonly scale: readonly ScaleMark[]
  readonly axis: readonly ScaleMark[]
  /** What the axes show, such as "Score" and "Date". */
  readonly names: { readonly scale: string; readonly axis: string }
  /** Shapes in a square of 1 by 1 with the origin at the lower left; lines need `vectorEffect="non-scaling-stroke"`. */
  readonly children: ReactNode
}

export function ChartFrame({ title, height, scale, axis, names, children }: ChartFrameProps) {
  return (
    <div className="chart-frame">
      <div className="chart-name" aria-hidden="true">
        {names.scale}
      </div>
      <div className="chart-scale" style={{ height }} aria-hidden="true">
        {scale.map(({ place, label }) => (
          <span key={label} style={{ bottom: `${100 * place}%` }}>
            {label}
          </span>
        ))}
      </div>
      <svg
        className="chart-plot"
        style={{ height }}
        viewBox="0 0 1 1"
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
      >
        <g transform="matrix(1 0 0 -1 0 1)">
          {scale.map(({ place, label }) => (
            <line
              key={label}
              className="chart-grid"
              x1={0}
              x2={1}
              y1={place}
              y2={place}
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {children}
        </g>
      </svg>
      <div className="chart-axis" aria-hidden="true">
        {axis.map(({ place, label }) => (
          <span key={label} style={{ left: `${100 * place}%` }}>
            {label}
          </span>
        ))}
      </div>
      <div className="chart-axis-name" aria-hidden="true">
        {names.axis}
      </div>
    </div>
  )
}
