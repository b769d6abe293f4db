/** What an unknown address shows: the server hands every address outside /api to the console. */
import { Container, Text, Title } from '@mantine/core'
import { PageLink } from './location.tsx'

export function MissingPage() {
  return (
    <Container size="sm" py={64}>
      <Title order={1}>There is nothing here</Title>
      <Text mt="sm">
        The address may be mistyped. <PageLink to="/">Go to the overview</PageLink>
      </Text>
    </Container>
  )
}
