/** The state of the service: readiness checks and running jobs. */
import { SimpleGrid, Stack } from '@mantine/core'
import { Page } from '#console/ui/page.tsx'
import { Section } from '#console/ui/section.tsx'
import { ReadinessChecks } from './readiness.tsx'
import { RunningJobs } from './running-jobs.tsx'

export default function OperationsPage() {
  return (
    <Page title="Operations" about="Whether the service is ready, and what it is working on.">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" verticalSpacing="md">
        <Section title="Server status">
          <ReadinessChecks />
        </Section>
        <Stack gap="md">
          <RunningJobs />
        </Stack>
      </SimpleGrid>
    </Page>
  )
}
