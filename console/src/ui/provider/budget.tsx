/** How much of a budget is used, as a bar with its numbers. */
import { Progress, Stack, Text } from '@mantine/core'
import { getBudgetColor, type ProviderStatus, toPercentUsed } from './provider-texts.ts'

interface BudgetBarProps {
  readonly label: string
  readonly used: string
  readonly limit: string
  readonly percent: number
}

function BudgetBar({ label, used, limit, percent }: BudgetBarProps) {
  return (
    <div>
      <Text size="xs" component="div" className="nowrap">
        {used} <span className="quiet">of {limit}</span>
      </Text>
      <Progress
        value={percent}
        size="sm"
        color={getBudgetColor(percent)}
        aria-label={`${label}: ${used} of ${limit}`}
        mt={2}
        miw={110}
        maw={280}
      />
    </div>
  )
}

/** Calls of the day and spend of the month. */
export function Budget({ status }: { readonly status: ProviderStatus }) {
  const { calls_today, calls_per_day, spend_this_month, spend_per_month, currency } = status
  const calls = toPercentUsed(calls_today, calls_per_day)
  const spend = toPercentUsed(spend_this_month, spend_per_month)
  if (calls === null && spend === null) return <span className="quiet">no limit</span>
  return (
    <Stack gap={6}>
      {calls !== null && (
        <BudgetBar
          label="Calls today"
          used={calls_today.toLocaleString('en')}
          limit={`${calls_per_day?.toLocaleString('en')} calls today`}
          percent={calls}
        />
      )}
      {spend !== null && (
        <BudgetBar
          label="Spend this month"
          used={spend_this_month}
          limit={`${spend_per_month} ${currency ?? ''} this month`}
          percent={spend}
        />
      )}
    </Stack>
  )
}
