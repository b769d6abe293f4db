/** Reads a file from the API. It goes through the client, because a plain link sends no token. */
import { problemFromResponse } from '@probity/client'

interface FileResponse {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}

/** `request` is a call of the client with `parseAs: 'blob'`. */
export async function readFile(request: Promise<FileResponse>): Promise<Blob> {
  const { data, error, response } = await request
  if (!(data instanceof Blob)) throw problemFromResponse(response, error)
  return data
}
