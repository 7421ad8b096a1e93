"""The gateway: chat APIs in front of a sampler, for agent programs that users ship."""
