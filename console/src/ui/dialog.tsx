/** Form and confirmation dialogs, closed by their buttons, Escape or a click outside. */
import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import type { ApiMutation } from './api-mutation.ts'
import { ProblemNote } from './problem-note.tsx'

const modalProps: Partial<ModalProps> = {
  centered: true,
  transitionProps: { duration: 120 },
  closeButtonProps: { 'aria-label': 'Close' },
}

interface FormDialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onSubmit: () => void
  readonly submit: string
  readonly change: Pick<ApiMutation<never>, 'isRunning' | 'problem'>
  /** Reloads the current state, offered after a concurrent change. */
  readonly onReload?: () => void
  readonly size?: string
  readonly children: ReactNode
}

export function FormDialog({
  title,
  isOpen,
  onClose,
  onSubmit,
  submit,
  change,
  onReload,
  size = 'md',
  children,
}: FormDialogProps) {
  function send(event: FormEvent) {
    event.preventDefault()
    onSubmit()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} size={size} {...modalProps}>
      <form onSubmit={send}>
        <Stack gap="sm">
          {children}
          <ProblemNote problem={change.problem} {...(onReload && { onReload })} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isRunning}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

interface ConfirmDialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
  /** The label of the confirm button. */
  readonly confirm: string
  readonly change: Pick<ApiMutation<never>, 'isRunning' | 'problem'>
  readonly isDangerous?: boolean
  readonly children: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, isOpen, onClose, onConfirm, confirm, change, isDangerous = false, children } = props
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} {...modalProps}>
      <Stack gap="sm">
        <Text size="sm" component="div">
          {children}
        </Text>
        <ProblemNote problem={change.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button {...(isDangerous && { color: 'red' })} loading={change.isRunning} onClick={onConfirm}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
