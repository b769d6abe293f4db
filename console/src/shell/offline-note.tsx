/** Says at once, on any page, that the machine has lost its connection; what is on the screen may be old. */
import { Text } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'

export function OfflineNote() {
  const { online } = useNetwork()
  if (online) return null
  return (
    <Text size="sm" className="offline" role="status">
      You are offline. What you see may be out of date; changes cannot be sent.
    </Text>
  )
}
