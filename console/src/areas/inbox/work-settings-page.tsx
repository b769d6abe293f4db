/** How work is shared out: queues, the calendar of their targets, and moving what one person works on. */
import { Stack, Text } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Section } from '#console/ui/section.tsx'
import { BusinessCalendar } from './business-calendar.tsx'
import { InboxFrame } from './inbox-frame.tsx'
import { MoveWork } from './move-work.tsx'

export default function WorkSettingsPage() {
  const may = usePermission()
  return (
    <InboxFrame open="/inbox/settings" about="How work is shared out, and by which days its targets are counted.">
      <Stack gap="md" maw={980}>
        {may('reassignWork') && <MoveWork />}
        <BusinessCalendar />
        {may('getDataset') && (
          <Section title="Queues">
            <Text size="sm">
              Which work goes to which queue, who is its team, how it is assigned and by when it is done is kept in the
              list{' '}
              <PageLink to="/datasets/work-queues" inherit>
                Work queues
              </PageLink>
              .
            </Text>
          </Section>
        )}
      </Stack>
    </InboxFrame>
  )
}
