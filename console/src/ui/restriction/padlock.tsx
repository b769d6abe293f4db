/** The padlock of everything that belongs to a restriction in force: a note on pages, a mark in rows. */
import './restriction.css'
import { Group, Text } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import { describeReaders } from './describe-readers.ts'
import { useRestriction } from './restriction-queries.ts'

interface PadlockProps {
  /** Null or undefined: it belongs to no restriction, and nothing is shown. */
  readonly restriction_id: string | null | undefined
}

interface MarkProps extends Partial<PadlockProps> {
  readonly is_restricted?: boolean
}

export function RestrictionNote({ restriction_id }: PadlockProps) {
  const may = usePermission()
  const { isInForce, restriction } = useRestriction(restriction_id)
  if (!isInForce) return null
  return (
    <Group role="note" aria-label="Restricted" className="restriction-note" gap="xs" wrap="nowrap" mb="md">
      <Icon name="lock" size={20} />
      <Text size="sm" component="div">
        <b>Restricted.</b> {describeReaders(restriction?.people)} <b>Do not discuss with the customer.</b>{' '}
        {restriction !== undefined && may('getRestriction') && (
          <PageLink to={`/restrictions/${restriction.restriction_id}`} inherit>
            Who has access
          </PageLink>
        )}
      </Text>
    </Group>
  )
}

/** The same in a row of a list. A row may say that it is restricted without saying by what. */
export function RestrictionMark({ restriction_id, is_restricted = false }: MarkProps) {
  const { isInForce, restriction } = useRestriction(restriction_id)
  if (!isInForce && !is_restricted) return null
  const text = `Restricted. ${describeReaders(restriction?.people)} Do not discuss with the customer.`
  return (
    <span className="restriction-mark" role="img" aria-label={text} title={text}>
      <Icon name="lock" size={14} /> restricted
    </span>
  )
}
