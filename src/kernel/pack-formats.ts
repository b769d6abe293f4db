/** Names of signed files of an investigation, for whoever writes and whoever verifies them. */
export const SEAL_FORMAT = 'probity-investigation-seal/1'
export const PACK_FORMAT = 'probity-investigation-pack/1'
