/** Calls per day as a bar chart. A bar shows the operations of its day in the table below. */
import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { formatChartDay } from '#console/ui/date-format.ts'
import { sumByDay, type UsageItem } from './usage.ts'

interface UsageChartProps {
  readonly items: readonly UsageItem[]
  readonly onOpenDay: (day: string) => void
}

export default function UsageChart({ items, onOpenDay }: UsageChartProps) {
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
        xAxisLabel="Day"
        yAxisLabel="Calls"
        xAxisProps={{ tickFormatter: formatChartDay, minTickGap: 24 }}
        yAxisProps={{ allowDecimals: false, width: 56 }}
        barProps={{ cursor: 'pointer', onClick: ({ payload }) => onOpenDay((payload as { day: string }).day) }}
      />
    </div>
  )
}
