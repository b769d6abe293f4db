/** What an unknown address shows: the server hands every address outside /api to the console. */
import { Box, Text, Title } from '@mantine/core'
import { PageLink } from '#console/ui/link.tsx'
import { usePageFocus } from '#console/ui/page.tsx'

export function NotFoundPage() {
  const heading = usePageFocus('Not found')
  return (
    <Box className="page" maw={620}>
      <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
        There is nothing here
      </Title>
      <Text mt="sm">
        The address may be mistyped. <PageLink to="/">Go to the overview</PageLink>
      </Text>
    </Box>
  )
}
