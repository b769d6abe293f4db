/** Shows a new secret once. It closes only by its button, because the secret cannot be shown again. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'

interface SecretDialogProps {
  readonly created: Schemas['ApiKeyWithSecret'] | null
  readonly onClose: () => void
}

export function SecretDialog({ created: made, onClose }: SecretDialogProps) {
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title={`Secret of ${made?.key.name ?? ''}`}
      size="lg"
      centered
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      transitionProps={{ duration: 120 }}
    >
      <Stack gap="sm">
        <Alert color="yellow" role="status">
          Copy it now. It is not stored and will not be shown again.
        </Alert>
        <CopyValue value={made?.secret ?? ''} name="the secret" isBlock />
        {made?.key.previous_valid_until && (
          <Text size="sm">
            The old secret is valid until <DateTime at={made.key.previous_valid_until} />.
          </Text>
        )}
        <Text size="sm" c="dimmed">
          Exchange it for a token with <span className="mono">POST /api/auth/token</span>; the client does this
          automatically.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
