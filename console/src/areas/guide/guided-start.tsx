/** Offers the guided start on the home page of an empty tenant: progress, next step, and a way to dismiss it. */
import { Button, Card, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useId } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { ButtonLink } from '#console/ui/link.tsx'
import { canDoStep, chooseStep, countDone, isOffered } from './guide-steps.ts'
import { useStoredProgress } from './guide-storage.ts'
import { useGuideProgress } from './tenant-facts.ts'

export function GuidedStart() {
  const [stored, store] = useStoredProgress()
  return stored.isDismissed ? null : (
    <GuideOffer hasBegun={stored.hasBegun} onDismiss={() => store({ isDismissed: true })} />
  )
}

interface GuideOfferProps {
  readonly hasBegun: boolean
  readonly onDismiss: () => void
}

function GuideOffer({ hasBegun, onDismiss }: GuideOfferProps) {
  const id = useId()
  const may = usePermission()
  const progress = useGuideProgress({ isOpen: false })
  if (progress === undefined || !isOffered(progress.facts, progress.steps, hasBegun)) return null
  const { steps } = progress
  const done = countDone(steps)
  const next = chooseStep(steps, (step) => canDoStep(step, may))
  return (
    <Card component="section" aria-labelledby={id} withBorder padding="md" mb="md">
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={6} flex="1 1 320px">
          <Title order={2} size="h4" id={id}>
            {done === 0 ? 'Start here: from an empty tenant to a decision you can prove' : 'Continue the guided start'}
          </Title>
          <Text size="sm">
            {done === 0
              ? 'Five steps on your own tenant, about ten minutes. Bring in a list, put it in force, rate a customer, change a threshold and replay the decision.'
              : next && `Next: ${next.title.toLowerCase()}.`}
          </Text>
          <Group gap="xs" wrap="nowrap" maw={420}>
            <Progress value={(100 * done) / steps.length} flex={1} size="sm" aria-label="Steps done" />
            <Text size="xs" c="dimmed" miw="max-content">
              {done} of {steps.length} done
            </Text>
          </Group>
        </Stack>
        <Group gap="xs">
          <Button variant="subtle" color="gray" onClick={onDismiss}>
            Dismiss
          </Button>
          <ButtonLink to="/guide">{done === 0 ? 'Begin' : 'Continue'}</ButtonLink>
        </Group>
      </Group>
    </Card>
  )
}
