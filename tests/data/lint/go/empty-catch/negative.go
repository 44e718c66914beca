package a

func f(err error) error {
	if err != nil {
		return err
	}
	return nil
}
