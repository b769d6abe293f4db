/** Chooses a restriction that the user has access to, or none. */
import { Select } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { useRestrictionsInForce } from './restriction-queries.ts'

interface RestrictionSelectProps {
  readonly description: string
  readonly restriction_id: string | null
  readonly onChange: (restriction_id: string | null) => void
}

export function RestrictionSelect({ description, restriction_id, onChange }: RestrictionSelectProps) {
  const may = usePermission()
  const restrictions = useRestrictionsInForce()
  if (!may('listRestrictions') || restrictions.length === 0) return null
  return (
    <Select
      label="Restriction"
      description={description}
      placeholder="None"
      clearable
      searchable={restrictions.length > 8}
      data={restrictions.map((one) => ({
        value: one.restriction_id,
        label: `${one.restriction_id.slice(-8)} · ${one.purpose}`,
      }))}
      value={restriction_id}
      onChange={onChange}
      clearButtonProps={{ 'aria-label': 'Clear restriction' }}
    />
  )
}
