text = 'no end
