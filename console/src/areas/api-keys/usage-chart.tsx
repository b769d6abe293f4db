/** Calls per day as a bar chart. The table below it holds the same numbers. */
import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { sumByDay, type UsageItem } from './usage.ts'

export default function UsageChart({ items }: { readonly items: readonly UsageItem[] }) {
  return (
    <div role="img" aria-label="Calls per day over the last 31 days">
      <BarChart
        h={220}
        data={sumByDay(items, new Date())}
        dataKey="day"
        type="stacked"
        series={[
          { name: 'accepted', label: 'Accepted', color: 'cyan.7' },
          { name: 'refused', label: 'Refused', color: 'orange.6' },
        ]}
        withLegend
        tickLine="none"
        xAxisProps={{ tickFormatter: (day: string) => day.slice(5), minTickGap: 24 }}
        yAxisProps={{ allowDecimals: false, width: 40 }}
      />
    </div>
  )
}
