"""What tests of several folders share: projects, clients, editors, agents, their doubles."""
